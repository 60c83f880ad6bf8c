"""Raw answers expire: nothing uses them any more, then they are deleted, then their calls leave."""

from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.db.models.functions import Now

from jobs import queue
from jobs.archive import answers
from jobs.archive.ages import Ages
from jobs.errors import StorageUnavailable
from jobs.models import Call, State
from jobs.paid.batches.models import Batch
from jobs.storage import Folder
from tests.jobs import orders
from tests.jobs.archive.old import age, archive, files, old_call, old_chore, rows_in_database
from tests.jobs.conftest import SimulatedWorker
from tests.jobs.orders import Sender, buy, claimed_run, states
from tests.testapp.models import Chore, Order

pytestmark = pytest.mark.django_db(transaction=True)
opened = orders.opened
LONG_AGO = 100  # days; answers are kept for 90


def expire():
    return dict(answers.expire(Ages.now(), lambda: True))


def stored(name):
    return storages["answers"].exists(name)


def bought_long_ago(days=LONG_AGO):
    """A job that bought its answer and succeeded, that many days ago."""
    run = claimed_run()
    bought = buy(run)
    SimulatedWorker("fast").succeed(run.job)
    age(run.job, days)
    return run.job, Call.objects.get(pk=bought.call.pk)


def run_again(worker="other"):
    queue.requeue(Order.objects.all())
    return claimed_run(worker=worker)


def test_an_old_answer_is_deleted_and_its_call_stays_until_it_is_archived():
    _, call = bought_long_ago()

    assert expire() == {"answers": 1}

    assert not stored(call.answer_name)
    call.refresh_from_db()
    assert (call.state, call.answer_expired, call.answer_size) == ("stored", True, None)
    assert call.answer_hash  # what it was can still be proved
    assert archive() == {"files": 1, "attempts": 1, "calls": 1}


def test_a_young_answer_stays():
    _, call = bought_long_ago(days=89)

    assert expire() == {}

    assert stored(call.answer_name)
    assert archive() == {"files": 1, "attempts": 1}


def test_zero_days_keep_answers_for_ever_and_their_calls(settings):
    settings.ANSWER_RETENTION_DAYS = 0
    bought_long_ago()

    assert expire() == {}
    assert archive() == {"files": 1, "attempts": 1}
    assert states() == ["stored"]


def test_the_answer_of_a_living_job_stays():
    _, call = bought_long_ago()
    queue.requeue(Order.objects.all())

    assert expire() == {}

    assert stored(call.answer_name)


def test_the_answer_of_a_job_that_ended_lately_stays():
    _, call = bought_long_ago()
    Order.objects.update(finished_at=Now())

    assert expire() == {}
    assert stored(call.answer_name)


def test_the_answer_of_a_deleted_job_expires():
    _, call = bought_long_ago()
    Order.objects.all().delete()

    assert expire() == {"answers": 1}
    assert not stored(call.answer_name)


def test_a_requeued_job_buys_anew_under_another_name():
    _, old = bought_long_ago()
    expire()
    send = Sender()

    bought = buy(run_again(), send)

    assert send.sent == 1
    assert bought.call.answer_name != old.answer_name
    assert stored(bought.call.answer_name)
    assert states() == ["stored", "stored"]


def test_a_requeued_job_buys_anew_after_its_calls_have_left():
    bought_long_ago()
    expire()
    archive()
    send = Sender()

    bought = buy(run_again(), send)

    assert (send.sent, bought.call.number) == (1, 1)
    assert states() == ["stored"]


def test_killed_after_the_mark_nothing_uses_the_answer(monkeypatch):
    bought_long_ago()
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "remove", unplugged)
        with pytest.raises(StorageUnavailable):
            expire()
    send = Sender()

    bought = buy(run_again(), send)

    assert send.sent == 1
    assert expire() == {}  # the job is alive now: even the expired answer waits
    SimulatedWorker("other").succeed(Order.objects.get())
    assert stored(bought.call.answer_name)


def unplugged(*_):
    raise StorageUnavailable(reason="unplugged")


def test_killed_between_the_mark_and_the_deletion_the_next_run_finishes(monkeypatch):
    _, call = bought_long_ago()
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "remove", unplugged)
        with pytest.raises(StorageUnavailable):
            expire()
    assert archive() == {"files": 1, "attempts": 1}  # the call waits for its file to be deleted

    assert expire() == {"answers": 1}

    assert not stored(call.answer_name)
    assert archive() == {"files": 1, "calls": 1}


def test_a_storage_that_fails_now_and_then_holds_up_nothing_for_ever(monkeypatch):
    job = old_chore()
    for _ in range(4):
        old_call(job, days=LONG_AGO)
    age(job, LONG_AGO)
    remove, asked = Folder.remove, []

    def remove_every_other(self, name):
        asked.append(name)
        unplugged() if len(asked) % 2 == 0 else remove(self, name)

    monkeypatch.setattr(Folder, "remove", remove_every_other)

    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            expire()
    assert expire() == {"answers": 1}


def test_killed_between_the_deletion_and_its_record_the_next_run_finishes():
    _, call = bought_long_ago()
    marked = answers.mark([call], Ages.now().answers)
    storages["answers"].remove(call.answer_name)

    assert len(marked) == 1
    assert expire() == {"answers": 1}
    assert archive()["calls"] == 1


def test_a_job_requeued_before_the_mark_keeps_its_answer():
    _, call = bought_long_ago()
    page = list(Call.objects.all())
    before = Ages.now().answers
    run = run_again()

    assert answers.mark(page, before) == []

    assert buy(run, Sender()).call.pk == call.pk


def test_the_answer_of_a_failed_call_expires_too():
    job = old_chore(days=LONG_AGO)
    call = old_call(job, State.FAILED, days=LONG_AGO)

    assert expire() == {"answers": 1}
    assert not stored(call.answer_name)
    assert archive()["calls"] == 1


@pytest.mark.parametrize("state", [State.FAILED, State.UNKNOWN])
def test_a_file_that_no_call_knows_of_goes_before_its_call_leaves(state):
    job = old_chore(days=40)
    call = old_call(job, state, days=40, answer=None, seen=True)
    storages["answers"].put(call.answer_name, b"came too late")

    expire()
    archive()

    assert not stored(call.answer_name)
    assert rows_in_database(job) == []


@pytest.mark.parametrize(
    "columns", [{"state": State.INTENT}, {"state": State.WAITING}, {"state": State.UNKNOWN}]
)
def test_calls_that_may_still_be_answered_keep_their_files(columns):
    call = old_call(old_chore(days=LONG_AGO), days=LONG_AGO, **columns)

    assert expire() == {}
    assert stored(call.answer_name)


def old_batch(days=LONG_AGO, pieces=2, **columns):
    ended = {"status": "succeeded", "finished_at": Now() - timedelta(days=days)}
    batch = Batch.objects.create(provider="shop:model", **ended, **columns)
    for number in range(1, pieces + 1):
        storages["answers"].put(f"batches/{batch.token}/{number}", b"lines")
    Batch.objects.filter(pk=batch.pk).update(file=f"batches/{batch.token}/{pieces}")
    return batch


def pieces_of(batch):
    return [n for n in (1, 2, 3) if stored(f"batches/{batch.token}/{n}")]


def test_the_results_of_an_old_batch_are_deleted():
    batch = old_batch()

    assert expire() == {"batch_results": 1}

    assert pieces_of(batch) == []
    assert Batch.objects.get().file == ""
    assert expire() == {}


def test_the_results_of_a_young_batch_stay():
    batch = old_batch(days=89)

    assert expire() == {}
    assert pieces_of(batch) == [1, 2]


def test_results_half_deleted_are_finished_by_the_next_run(monkeypatch):
    batch = old_batch()
    remove = Folder.remove
    with monkeypatch.context() as patch:
        patch.setattr(
            Folder,
            "remove",
            lambda self, name: unplugged() if name[-1] == "2" else remove(self, name),
        )
        with pytest.raises(StorageUnavailable):
            expire()
    assert pieces_of(batch) == [2]

    assert expire() == {"batch_results": 1}
    assert pieces_of(batch) == []


def test_nothing_else_is_deleted():
    old_chore(days=LONG_AGO)
    archive()
    names = set(files())

    expire()

    assert set(files()) == names
    assert Chore.objects.count() == 1
