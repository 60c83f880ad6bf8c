"""Alerts in the console and on the command line."""

import io
import json

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.urls import reverse

from jobs.alerts.models import AlertMessage
from jobs.models import Alert
from tests.jobs.alerts.conftest import SECRET, TOKEN, deliver, need, pass_minutes, retry, see
from tests.jobs.alerts.receiver import status
from tests.jobs.console.pages import EVIL

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_alert_changelist")
TEST = reverse("admin:jobs_alert_test")


def run(*arguments):
    out = io.StringIO()
    call_command("jobs", "alerts", *arguments, stdout=out)
    return out.getvalue()


def state(client):
    """The state of the only alert."""
    return client.get(LIST).text.partition("field-state")[2].partition("</td>")[0]


def test_the_list_says_what_was_told_and_links_to_its_messages(receiver, viewer):
    see(need("failed", "Failed chores: 2"))
    deliver()
    pass_minutes(5)
    see()

    page = viewer.get(LIST).text

    assert "Failed chores: 2" in page
    assert "webhook, begun: succeeded" in page
    assert "webhook, ended: queued" in page
    for message in AlertMessage.objects.all():
        assert reverse("admin:jobs_alertmessage_change", args=[message.pk]) in page
    assert viewer.get(reverse("admin:jobs_alert_change", args=[Alert.objects.get().pk])).text


def test_an_open_alert_at_which_nobody_looks_any_more_is_not_told_as_open(receiver, viewer):
    see(need("failed", "Failed chores: 2"))
    assert "needs a person" in state(viewer)

    pass_minutes(6)

    assert "last checked" in state(viewer)
    assert "needs a person" not in state(viewer)
    assert "Failed chores: 2  last checked" in run()
    assert not json.loads(run("--json"))[0]["current"]


def test_the_list_asks_the_database_as_often_for_many_alerts(
    receiver, viewer, django_assert_max_num_queries
):
    see(*(f"kind-{number}" for number in range(15)))
    viewer.get(LIST)

    with django_assert_max_num_queries(12):
        viewer.get(LIST)


def test_no_page_shows_the_address_or_runs_what_somebody_wrote(receiver, operator):
    receiver.script = [status(500)]
    see(need("failed", EVIL))
    deliver()

    message = AlertMessage.objects.get()
    pages = [LIST, reverse("admin:jobs_alertmessage_changelist")]
    pages += [reverse("admin:jobs_alertmessage_change", args=[message.pk])]
    pages += [reverse("admin:jobs_alert_change", args=[message.alert_id])]
    for url in pages:
        page = operator.get(url)
        assert page.status_code == 200
        assert TOKEN not in page.text
        assert SECRET not in page.text
        assert "<script>alert(1)" not in page.text
    assert "<b>webhook</b> 127.0.0.1" in operator.get(LIST).text


def test_without_a_way_the_list_says_so(viewer):
    assert "Alerts are sent nowhere" in viewer.get(LIST).text


def test_an_operator_sends_a_test_message(receiver, operator):
    page = operator.post(TEST, follow=True)
    retry()

    assert "A worker sends the test message." in page.text
    assert receiver.told == [("test", "test")]
    assert LogEntry.objects.get().object_id == str(Alert.objects.get().pk)


def test_a_viewer_sends_none(receiver, viewer):
    assert viewer.post(TEST).status_code == 403
    assert viewer.get(TEST).status_code == 405
    assert "Send a test message" not in viewer.get(LIST).text
    assert not Alert.objects.exists()


def test_without_a_way_no_test_is_sent(operator):
    assert "There is no address to tell" in operator.post(TEST, follow=True).text
    assert not Alert.objects.exists()


def test_the_command_lists_alerts(receiver):
    see(need("failed", "Failed chores: 2"))
    deliver()

    assert "Failed chores: 2  (webhook begun: succeeded)" in run()
    [alert] = json.loads(run("--json"))
    assert (alert["kind"], alert["ended_at"]) == ("failed", None)
    assert alert["messages"][0]["to"] == "127.0.0.1"
    assert run("--limit", "0") == ""


def test_the_command_sends_a_test_message(receiver):
    told = run("--test")
    retry()

    assert f"webhook to 127.0.0.1: manage.py jobs show {AlertMessage.objects.get().pk}" in told
    assert receiver.told == [("test", "test")]


def test_the_command_says_that_nobody_can_be_told():
    with pytest.raises(CommandError, match="Neither ALERT_WEBHOOK_URL nor ALERT_EMAILS"):
        run("--test")


def test_the_command_prints_the_key_of_the_signatures(receiver):
    assert run("--secret") == f"{SECRET}\n"
