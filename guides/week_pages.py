"""Weeks as visitors see them."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import conditional_page, require_safe

from config import errors
from guides.cards import find_cards, unfinished
from guides.pages import FOR_A_MINUTE, GUIDES_PER_PAGE, answer
from guides.weeks import shown

WEEKS_PER_PAGE = 20
MANY = 1_000  # a count stops here


@require_safe
@conditional_page
def weeks(request: HttpRequest) -> HttpResponse:
    page = Paginator(shown.keys(), WEEKS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "weeks": shown.find_all(page)}
    return answer(request, "guides/weeks.html", context, FOR_A_MINUTE)


@require_safe
@conditional_page
def week(request: HttpRequest, week_key: str) -> HttpResponse:
    found = shown.find(week_key)
    if found is None:
        raise Http404("Nothing is said of such a week.")
    guides = shown.guides_of(found.text)
    plan_ids = list(guides.values_list("pk", flat=True)[:GUIDES_PER_PAGE])
    if not plan_ids:
        return gone(request)
    cards = find_cards(plan_ids)
    going = unfinished(cards)
    number = len(plan_ids)
    if number == GUIDES_PER_PAGE:
        number = guides.order_by()[:MANY].count()
    context = {
        "week": found,
        "is_over": found.is_over(timezone.now()),
        "about": Truncator(" ".join(found.summary.split())).chars(160),
        "cover": next((card.cover for card in cards if card.cover and card.cover.srcset), None),
        "cards": cards,
        "more": number - len(plan_ids),
        **going,
    }
    keep = "no-cache" if going["unfinished"] else FOR_A_MINUTE
    return answer(request, "guides/week.html", context, keep)


def gone(request: HttpRequest) -> HttpResponse:
    """A text without guides speaks of what people took back, so it is not shown."""
    text = _("All guides of this week were taken back by the people who wrote them.")
    return errors.problem(request, 410, "withdrawn", _("Nothing is left of this week"), text)
