"""/metrics, for Prometheus: closed unless METRICS_TOKEN is set."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from config.doors import tokens
from jobs.metrics import scraping
from jobs.metrics.families import FAMILIES
from jobs.metrics.scraping import Reading

if TYPE_CHECKING:
    from prometheus_client import Metric


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    if not settings.METRICS_TOKEN:  # an empty one would let everyone in
        raise Http404("METRICS_TOKEN is not set.")
    if not constant_time_compare(tokens.bearer(request), settings.METRICS_TOKEN):
        return plain("unauthorized\n", 401, {"WWW-Authenticate": "Bearer"})
    try:
        return exposition(scraping.scraper.scrape())
    except scraping.Busy:
        return plain("busy\n", 503)


def exposition(reading: Reading) -> HttpResponse:
    # An extra, and settings refuse a token without it.
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

    registry = CollectorRegistry()
    registry.register(Collector(reading))
    kind = {"Content-Type": CONTENT_TYPE_PLAIN_0_0_4}
    return plain(generate_latest(registry).decode(), headers=kind)


class Collector:
    """Hands a reading to prometheus-client."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def collect(self) -> Iterator["Metric"]:
        from prometheus_client import core

        forms: dict[str, Any] = {
            "gauge": core.GaugeMetricFamily,
            "counter": core.CounterMetricFamily,
            "summary": core.SummaryMetricFamily,
        }
        found = {
            family: forms[family.type](family.name, family.help, labels=family.labels)
            for family in FAMILIES
        }
        for family, labels, values in self.reading.samples:
            found[family].add_metric(labels, *values)
        yield from found.values()


def plain(text: str, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    headers = {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}
    return HttpResponse(text, status=status, headers={"Cache-Control": "no-store", **headers})
