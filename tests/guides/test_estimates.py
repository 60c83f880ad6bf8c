"""The seconds still expected come from measurements, or there are none."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from guides import estimates
from guides.models import SpotImageJob
from guides.status import GuideStatus, time_left
from jobs.models import Provider
from jobs.paid import limits
from tests.guides.conftest import save_guide
from tests.guides.history import have_worker, remember
from tests.guides.painting import claim

pytestmark = pytest.mark.django_db


def test_a_picture_that_is_next_takes_as_long_as_the_last_ones_did():
    save_guide("Gate")
    remember(3, seconds=10)
    have_worker()

    assert GuideStatus("kyoto").seconds == pytest.approx(10, abs=1)


def test_those_behind_wait_for_those_before_them():
    save_guide("1", "2", "3", "4", "5")
    remember(3, seconds=10)
    have_worker(slots=2)

    seconds = sorted(each.seconds for each in GuideStatus("kyoto").estimates.values())

    assert seconds == sorted(seconds)
    assert seconds[0] == pytest.approx(10, abs=1)
    assert 20 <= seconds[-1] <= 31  # three rounds of two


@pytest.mark.parametrize(
    ("made", "facts"),
    [
        (0, {}),
        (2, {}),
        (5, {"outcome": "failed"}),
        (5, {"kind": "other.Job"}),
        (5, {"ago": timedelta(days=2)}),
    ],
)
def test_too_few_pictures_are_no_base_for_an_estimate(made, facts):
    save_guide("Gate")
    remember(made, **facts)
    have_worker()

    assert GuideStatus("kyoto").seconds is None


@pytest.mark.parametrize("facts", [{"lease": -1}, {"draining": True}])
def test_without_a_worker_nothing_is_promised(facts):
    save_guide("Gate")
    remember(5)
    have_worker(**facts)

    assert GuideStatus("kyoto").seconds is None


def test_what_is_being_painted_needs_only_the_rest():
    save_guide("Gate")
    claim(["Gate"])
    SpotImageJob.objects.update(locked_at=Now() - timedelta(seconds=600))
    remember(3, seconds=1000)
    have_worker()

    assert 300 < GuideStatus("kyoto").seconds <= 400  # it shrinks while the test runs


def test_what_takes_unusually_long_is_not_guessed_at():
    save_guide("Gate")
    claim(["Gate"])
    SpotImageJob.objects.update(locked_at=Now() - timedelta(seconds=50))
    remember(3, seconds=10)
    have_worker()

    assert GuideStatus("kyoto").seconds is None


def test_a_retry_is_expected_after_its_wait():
    save_guide("Gate")
    SpotImageJob.objects.update(run_after=Now() + timedelta(hours=1))
    remember(3, seconds=600)
    have_worker()

    assert 4100 < GuideStatus("kyoto").seconds <= 4200


def wait_until_later(**spot):
    SpotImageJob.objects.filter(**spot).update(run_after=Now() + timedelta(seconds=100))


@pytest.mark.parametrize("all_later", [False, True])
def test_a_retry_waits_for_all_who_will_be_before_it(all_later):
    save_guide(*(str(n) for n in range(20)), plan_id="other")
    save_guide("Gate")
    wait_until_later(**({} if all_later else {"plan_id": "kyoto"}))
    remember(3, seconds=10)
    have_worker(slots=1)

    [estimate] = GuideStatus("kyoto").estimates.values()

    assert estimate.position is None
    assert estimate.seconds == pytest.approx(210, abs=2)


def test_a_retry_behind_too_many_is_not_guessed_at(monkeypatch):
    monkeypatch.setattr("guides.estimates.MOST_COUNTED", 3)
    save_guide("1", "2", "3", plan_id="other")
    save_guide("Gate")
    wait_until_later(plan_id="kyoto")
    remember(3, seconds=10)
    have_worker()

    assert GuideStatus("kyoto").seconds is None


def test_who_was_claimed_while_we_looked_has_no_place_in_the_line(monkeypatch):
    save_guide("Gate")
    monkeypatch.setattr("guides.estimates.look_at_line", lambda *_: estimates.NOBODY)

    [estimate] = GuideStatus("kyoto").estimates.values()

    assert (estimate.position, estimate.seconds) == (None, None)


def test_one_unknown_leaves_the_whole_unknown():
    found = [estimates.Estimate(seconds=3), estimates.Estimate()]

    assert estimates.together(found) is None


def limit(**columns):
    limits.find("painter")
    Provider.objects.update(**columns)


def test_a_provider_that_allows_few_a_minute_stretches_the_line():
    save_guide(*(str(n) for n in range(7)))
    remember(3, seconds=10)
    have_worker(slots=100)
    limit(requests_per_minute=6, burst=1)

    assert GuideStatus("kyoto").seconds == pytest.approx(70, abs=2)


def test_a_provider_that_was_left_alone_lets_some_begin_at_once():
    save_guide(*(str(n) for n in range(7)))
    remember(3, seconds=10)
    have_worker(slots=100)
    limit(requests_per_minute=6, burst=5)

    assert GuideStatus("kyoto").seconds == pytest.approx(30, abs=2)


def test_a_provider_that_takes_few_at_once_stretches_the_line():
    save_guide("1", "2", "3")
    remember(3, seconds=10)
    have_worker(slots=100)
    limit(max_running=1)

    assert GuideStatus("kyoto").seconds == pytest.approx(30, abs=2)


def test_those_whom_the_budget_leaves_out_are_promised_nothing():
    save_guide(*(str(n) for n in range(10)))
    remember(3, seconds=10)
    have_worker(slots=10)
    limit(daily_budget=2, price=1)

    status = GuideStatus("kyoto")

    promised = [each.position for each in status.estimates.values() if each.seconds is not None]
    assert sorted(promised) == [0, 1]
    assert status.seconds is None
    assert status.time_left == "not all pictures will come today"


def test_a_spent_budget_promises_nothing():
    save_guide("Gate")
    remember(3, seconds=10)
    have_worker()
    limit(daily_budget=1, price=2)

    status = GuideStatus("kyoto")

    assert status.seconds is None
    assert status.time_left == "painting is paused for now"  # a day covers no picture


def test_a_budget_spent_today_is_told_to_visitors_without_figures():
    save_guide("Gate")
    remember(3, seconds=10)
    have_worker()
    limit(daily_budget=2, price=2, spent=2, spent_on=timezone.localdate())

    assert GuideStatus("kyoto").time_left == "today’s pictures are used up; more tomorrow"


def test_a_budget_booked_ahead_of_today_promises_nothing_for_tomorrow():
    save_guide("Gate")
    limit(daily_budget=2, price=2, spent=2, spent_on=timezone.localdate() + timedelta(days=3))

    assert GuideStatus("kyoto").time_left == "painting is paused for now"


def test_a_price_that_is_not_set_is_a_pause_to_visitors():
    save_guide("Gate")
    limit(daily_budget=2, price=0)

    assert GuideStatus("kyoto").time_left == "painting is paused for now"


def test_a_pause_with_an_end_is_waited_for():
    save_guide("Gate")
    remember(3, seconds=10)
    have_worker()
    limit(paused_until=Now() + timedelta(hours=1))

    assert 3500 < GuideStatus("kyoto").seconds <= 3611


def test_a_pause_without_an_end_is_said_and_not_guessed_at():
    save_guide("Gate")
    remember(3, seconds=10)
    have_worker()
    limit(paused=True)

    status = GuideStatus("kyoto")

    assert status.seconds is None
    assert status.time_left == "painting is paused for now"


def test_a_million_old_attempts_are_not_looked_at(django_assert_num_queries):
    with django_assert_num_queries(2) as queries:
        estimates.find_pace(None)

    assert "LIMIT 200" in queries[0]["sql"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (5, "a few seconds left"),
        (50, "less than a minute left"),
        (60, "about 1 minute left"),
        (200, "about 4 minutes left"),
        (9999, "more than an hour left"),
    ],
)
def test_seconds_are_said_roughly(seconds, words):
    assert time_left(seconds) == words
