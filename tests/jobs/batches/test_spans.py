"""The span of a batch links to its members: a parent of 5,000 children could not be read."""

from jobs import spans
from tests.jobs.batches.conftest import orders, step
from tests.jobs.collector import collector
from tests.testapp.models import Order

__all__ = ["collector"]  # a fixture


def test_the_creation_of_a_batch_links_to_the_traces_of_its_members(collector):
    orders("lamp", "chair")
    Order.objects.filter(name="chair").update(trace="an attacker's text")
    [lamp] = Order.objects.filter(name="lamp")

    step()
    spans.stop()

    [create] = collector.of_kind("CLIENT")
    assert create.links == (lamp.trace[3:35],)
    assert create.trace not in create.links
