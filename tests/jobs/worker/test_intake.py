"""How much a worker claims: pure policy, tested without a database."""

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


def test_a_worker_full_of_slow_jobs_claims_nothing_of_other_models():
    intake = Intake([Chore, NoopJob], slots=8, batch=500)
    intake.pace = {Chore: 20.0, NoopJob: QUICK}

    assert intake.room(NoopJob, Counter({Chore: 8})) == 0


def test_jobs_of_unknown_pace_keep_their_slots():
    intake = Intake([Chore, NoopJob], slots=8, batch=500)

    assert intake.room(NoopJob, Counter({Chore: 8})) == 0


def test_beside_slow_jobs_the_other_slots_are_kept_busy():
    intake = Intake([Chore, NoopJob], slots=8, batch=500)
    intake.pace = {Chore: 20.0, NoopJob: 0.01}

    assert intake.room(NoopJob, Counter({Chore: 6})) == 2 + 20


def test_a_model_whose_table_is_locked_is_left_alone_for_a_while():
    intake = Intake([Chore, NoopJob], slots=8, batch=500)

    intake.put_aside(Chore)

    assert intake.within_reach() == [NoopJob]
    assert intake.hungry == {NoopJob}
    assert not intake.is_fed


def test_a_model_that_was_left_alone_is_asked_again():
    intake = Intake([Chore], slots=8, batch=500)

    intake.put_aside(Chore)
    intake.aside[Chore] = 0.0

    assert intake.within_reach() == [Chore]


def test_brief_jobs_are_claimed_ahead_for_the_threads_that_perform_them():
    intake = Intake([NoopJob], slots=8, batch=500)
    intake.pace = {NoopJob: 0.005}

    assert intake.room(NoopJob, Counter()) == 8 + 20

    intake.takers = 3
    assert intake.room(NoopJob, Counter()) == 8 + 60
