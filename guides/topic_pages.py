"""Topics for visitors: which there are, and the guides and spots of one."""

from collections import Counter

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import get_language
from django.views.decorators.http import conditional_page, require_safe

from guides import validators
from guides.cards import find_cards, unfinished
from guides.models import SpotDetail
from guides.pages import answer
from guides.topics import finding, most_used, summaries, tags

MOST_LISTED = 200
GUIDES_PER_PAGE = 12
LAST_PAGE = 100  # a visitor goes no further, and no query either


@require_safe
@conditional_page
def topics(request: HttpRequest) -> HttpResponse:
    return answer(request, "guides/topics.html", {"topics": most_used(MOST_LISTED)}, "no-cache")


@require_safe
@conditional_page
def topic(request: HttpRequest, tag: str) -> HttpResponse:
    """One topic has one address: other spellings of it lead there."""
    name = find_topic(tag)
    page = read_page(request)
    start = (page - 1) * GUIDES_PER_PAGE
    guides = list(finding.find_guides(name)[start : start + GUIDES_PER_PAGE + 1])
    if not guides:
        raise Http404("No published guide has this topic.")
    if tag != name:
        return HttpResponseRedirect(tags.address(name))
    shown = [guide.pk for guide in guides[:GUIDES_PER_PAGE]]
    cards = find_cards(shown)
    spots = finding.find_spots(name, shown)
    context = {
        "topic": name,
        "tag": spelling(name, spots),
        "cards": cards,
        "spots": spots,
        "summary": summaries.find_shown(name, get_language() or "") if page == 1 else None,
        "previous_page": page - 1,
        "next_page": page + 1 if len(guides) > GUIDES_PER_PAGE and page < LAST_PAGE else None,
        **unfinished(cards),
    }
    return answer(request, "guides/topic.html", context, "no-cache")


def find_topic(tag: str) -> str:
    """The topic that this part of an address names."""
    try:
        [tidy] = validators.tidy_tags([tag[: 2 * validators.LONGEST_TAG]])
    except (ValidationError, ValueError):
        raise Http404("No tag is like this.") from None
    if not tags.is_usable(tidy):
        raise Http404("No tag is like this.")
    return tags.topic_of(tidy)


def read_page(request: HttpRequest) -> int:
    wanted = request.GET.get("page", "1")
    is_number = wanted.isascii() and wanted.isdigit() and len(wanted) < 5
    if not is_number or not 1 <= int(wanted) <= LAST_PAGE:
        raise Http404("There is no such page.")
    return int(wanted)


def spelling(topic: str, spots: list[SpotDetail]) -> str:
    """The tag as most of these spots write it."""
    found = Counter(tags.topics_in(spot.topic_tags).get(topic, topic) for spot in spots)
    return finding.usual(found) if found else topic
