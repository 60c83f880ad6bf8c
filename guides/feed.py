"""New guides and weeks as an Atom feed."""

import re
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import linebreaks
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import conditional_page, require_safe

from guides import languages
from guides.models import Guide
from guides.pages import FOR_A_MINUTE
from guides.templatetags.pictures import absolute, site_host
from guides.weeks import shown
from guides.weeks.shown import ShownWeek

MOST_ENTRIES = 30
LONGEST_SUMMARY = 1_000
NEVER = datetime(2026, 1, 1, tzinfo=UTC)  # when a feed without entries changed
# XML has no way to write these: one of them would spoil the whole feed.
UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Entry = dict[str, Any]


class Feed(Atom1Feed):
    def latest_post_date(self) -> datetime:
        """The last change of an entry: the same feed again is the same document."""
        return max((item["updateddate"] for item in self.items), default=NEVER)


@require_safe
@conditional_page
def feed(request: HttpRequest) -> HttpResponse:
    """In the visitor's language, or in that of `?lang=`."""
    asked = request.GET.get("lang", "")
    language = asked if asked in languages.codes() else translation.get_language() or "en"
    with translation.override(language):
        document = write(request, language)
    headers = {"Cache-Control": FOR_A_MINUTE, "Content-Language": language}
    response = HttpResponse(document, content_type=Feed.content_type, headers=headers)
    patch_vary_headers(response, ["Accept-Language", "Cookie"])
    return response


def write(request: HttpRequest, language: str) -> str:
    address = absolute(reverse("feed"), request)
    feed = Feed(
        title="Tabie 旅絵",
        link=absolute(reverse("home"), request),
        description="",
        subtitle=_("Travel guides whose pictures always arrive."),
        language=language,
        author_name="Tabie",
        feed_url=f"{address}?lang={language}",
        feed_guid=f"{tag(request, NEVER)}/feed/{language}",
    )
    for entry in entries(request):
        feed.add_item(**entry)
    return str(feed.writeString("utf-8"))


def entries(request: HttpRequest) -> list[Entry]:
    """The newest guides and weeks together, in three queries."""
    guides = Guide.objects.published().order_by("-created_at", "plan_id")[:MOST_ENTRIES]
    weeks = shown.find_all(shown.keys()[:MOST_ENTRIES])
    found = [of_guide(each, request) for each in guides] + [
        of_week(each, request) for each in weeks
    ]
    return sorted(found, key=itemgetter("pubdate"), reverse=True)[:MOST_ENTRIES]


def of_guide(guide: Guide, request: HttpRequest) -> Entry:
    """A guide is news once, when it is created: being handed over again does not change it."""
    url = guide.get_absolute_url()
    return {
        "title": writable(guide),
        "link": absolute(url, request),
        "description": as_html(guide.summary or guide.destination),
        "unique_id": f"{tag(request, guide.created_at)}{url}",
        "pubdate": guide.created_at,
        "updateddate": guide.created_at,
    }


def of_week(week: ShownWeek, request: HttpRequest) -> Entry:
    created_at = week.text.created_at
    return {
        "title": _("The week: %(days)s") % {"days": week.words},
        "link": absolute(week.url, request),
        "description": as_html(week.summary),
        "unique_id": f"{tag(request, created_at)}{week.url}{week.text.language}",
        "pubdate": created_at,
        "updateddate": week.text.updated_at,
    }


def tag(request: HttpRequest, moment: datetime) -> str:
    """The beginning of a lasting id (RFC 4151): this site on a day."""
    host = site_host(request).partition(":")[0]
    return f"tag:{host},{moment.astimezone(UTC):%Y-%m-%d}:"


def writable(text: object) -> str:
    return Truncator(UNWRITABLE.sub("", str(text))).chars(LONGEST_SUMMARY)


def as_html(text: str) -> str:
    """A plain text for a reader that takes it for HTML, as Atom1Feed says it is."""
    return linebreaks(writable(text), autoescape=True)
