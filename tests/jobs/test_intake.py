"""How much a worker claims: plain policy, asked without a database."""

from collections import Counter

from jobs.worker.intake import Intake
from tests.testapp.models import Chore, NoopJob

QUICK = 0.00001


def test_slow_jobs_are_not_held_beyond_the_slots():
    intake = Intake([Chore], slots=2, batch=500)
    intake.pace[Chore] = 20.0

    assert intake.room(Chore, Counter()) == 2


def test_quick_jobs_are_claimed_ahead():
    intake = Intake([Chore], slots=2, batch=100)
    intake.pace[Chore] = QUICK

    assert intake.room(Chore, Counter()) == 102


def test_jobs_with_a_provider_are_never_held_beyond_the_slots(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "painter"))
    intake = Intake([Chore], slots=2, batch=500)
    intake.pace[Chore] = QUICK

    assert intake.room(Chore, Counter()) == 2


def test_a_slow_model_keeps_its_share_beside_a_quick_ones_backlog():
    intake = Intake([Chore, NoopJob], slots=8, batch=500)
    intake.pace[NoopJob] = QUICK

    assert intake.room(Chore, Counter({NoopJob: 508})) == 4


def test_models_share_the_room_fairly():
    intake = Intake([Chore, NoopJob], slots=4, batch=500)

    held = Counter()
    for model, wanted in intake.share_out(held):
        held[model] += wanted

    assert held == {Chore: 2, NoopJob: 2}
