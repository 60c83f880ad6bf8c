"""Whatever comes and goes, the messages of an hour are bounded, and none of them misleads."""

import random
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from jobs.alerts.looking import MOST
from jobs.alerts.messages import send_test
from jobs.alerts.models import AlertMessage
from jobs.models import Alert
from tests.jobs.alerts.conftest import messages, pass_minutes, see

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("receiver")]


class Walk:
    """Minutes in which needs begin and end by chance; what was told in each of them."""

    def __init__(self, seed, kinds, chance):
        self.random = random.Random(seed)
        self.kinds = [f"kind-{number}" for number in range(kinds)]
        self.chance = chance
        self.now = set()
        self.minute = 0
        self.told = defaultdict(list)  # by kind: minute and event
        self.known = set()
        self.present_for = Counter()

    def step(self):
        for kind in self.kinds:
            if self.random.random() < self.chance:
                self.now ^= {kind}
            self.present_for[kind] = self.present_for[kind] + 1 if kind in self.now else 0
        see(*(kind for kind in self.kinds if kind in self.now))
        for message in AlertMessage.objects.exclude(pk__in=self.known).select_related("alert"):
            self.known.add(message.pk)
            self.told[message.alert.kind].append((self.minute, message.event))
        pass_minutes()
        self.minute += 1

    def most_within_an_hour(self):
        minutes = sorted(minute for told in self.told.values() for minute, _ in told)
        return max(
            sum(1 for other in minutes if minute <= other < minute + 60) for minute in minutes
        )


@pytest.mark.few(1)
@pytest.mark.search
@pytest.mark.parametrize(("kinds", "chance"), [(5, 0.2), (60, 0.02), (60, 0.3)])
def test_an_hour_has_a_bounded_number_of_messages(kinds, chance):
    walk = Walk(seed=kinds, kinds=kinds, chance=chance)

    for _minute in range(200):
        walk.step()

    assert walk.most_within_an_hour() <= 2 * MOST + 4
    for told in walk.told.values():
        assert [event for _, event in told] == (["begun", "ended"] * len(told))[: len(told)]
        begun = [minute for minute, event in told if event == "begun"]
        assert all(later - earlier >= 35 for earlier, later in pairwise(begun))


def test_a_need_that_stays_is_told_however_much_it_flapped_before():
    walk = Walk(seed=1, kinds=5, chance=0.3)

    for _minute in range(150):
        walk.step()
        open_kinds = set(Alert.objects.open().values_list("kind", flat=True))
        assert {kind for kind, minutes in walk.present_for.items() if minutes > 36} <= open_kinds
        walk.chance = 0.3 if walk.minute < 60 else 0.02


def test_more_than_alerts_tell_is_told_in_one_message():
    kinds = [f"kind-{number:02}" for number in range(MOST + 5)]

    for _minute in range(3):
        see(*kinds)
        pass_minutes()

    begun = [kind for _event, kind in messages()]
    assert sorted(begun) == [*kinds[:MOST], "many"]  # the most urgent come first


def test_tests_take_the_room_of_no_alert():
    for _time in range(MOST):
        send_test()
    kinds = [f"kind-{number:02}" for number in range(MOST)]

    see(*kinds)

    assert sorted(kind for event, kind in messages() if event == "begun") == kinds


def test_what_was_left_out_is_told_when_there_is_room():
    kinds = [f"kind-{number:02}" for number in range(MOST + 1)]
    see(*kinds)
    for _minute in range(6):
        pass_minutes()
        see(kinds[-1])
    pass_minutes(61)

    see(kinds[-1])

    assert {("begun", kinds[-1]), ("ended", "many")} <= set(messages())
    assert Alert.objects.open().get().kind == kinds[-1]
