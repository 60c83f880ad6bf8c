"""What `manage.py jobs schedules` answers."""

from typing import Any

from django.db import transaction

from jobs import schedules
from jobs.console import audit
from jobs.console import schedules as standings
from jobs.console.cli_groups import Printed, misused
from jobs.console.schedules import Standing
from jobs.models import Schedule
from jobs.schedules import Refused


def of_schedules(
    *, name: str | None, do: str | None, by: object, dry_run: bool, **_: Any
) -> Printed:
    """All schedules, or one in detail; or run one now, switch it on or off."""
    if do:
        return _act(_find(name), do, by, dry_run)
    if name:
        [found] = standings.look([_find(name)])
        data = _facts(found)
        lines = [f"{key}: {value}" for key, value in data.items() if value not in (None, "", {})]
        return Printed(data, lines, is_well=not data["fault"])
    rows = [_facts(each) for each in standings.look(Schedule.objects.order_by("name"))]
    lines = [_line(row) for row in rows]
    return Printed(rows, lines, is_well=not any(row["fault"] for row in rows))


def _line(row: dict[str, Any]) -> str:
    parts = [row["name"], row["state"], row["times"]]
    if row["next_run"]:
        word = "due since" if row["due"] else "next"
        parts.append(f"{word} {row['next_run']:%Y-%m-%d %H:%M %Z}")
    if row["paused"]:
        parts.append(row["paused"])
    if row["last_status"]:
        parts.append(f"last {row['last_status']}")
    if row["skipped"]:
        parts.append(f"skipped {row['skipped']}: {row['skip_reason']}")
    if row["fault"]:
        parts.append(f"! {row['fault']}")
    return "  ".join(parts)


def _facts(standing: Standing) -> dict[str, Any]:
    row = standing.schedule
    return {
        "name": row.name,
        "kind": row.kind,
        "arguments": row.arguments,
        "state": standing.state,
        "enabled": row.enabled,
        "in_the_code": row.undeclared_at is None,
        "times": standing.times,
        "cron": row.cron,
        "time_zone": row.time_zone,
        "grace": row.grace,
        "overlap": row.overlap,
        "next_run": standing.next_run,
        "due": standing.is_due,
        "paused": standing.paused,
        "decided_up_to": row.last_scheduled_for,
        "last_job": row.last_job_id and str(row.last_job_id),
        "last_status": standing.last.status if standing.last else None,
        "skipped": row.skipped,
        "skipped_for": row.skipped_for,
        "skip_reason": standing.skip_reason,
        "changed_by_people": [each.name for each in standing.changed],
        "fault": standing.fault,
    }


def _act(schedule: Schedule, do: str, by: object, dry_run: bool) -> Printed:
    data = {"schedule": schedule.name, "did": do, "dry_run": dry_run}
    would = "would " if dry_run else ""
    if do == "run":
        job_id = _run(schedule, by, dry_run)
        line = f"{schedule.name}: would run now" if dry_run else f"{schedule.name}: run {job_id}"
        return Printed({**data, "job": job_id}, [line])
    is_new = schedule.enabled != (do == "on")
    if not dry_run:
        with transaction.atomic():
            is_new = schedules.switch(schedule, on=do == "on")
            if is_new:
                audit.note(by, [schedule], "Switched on." if do == "on" else "Switched off.")
    said = f"{would}switch {do}" if is_new else f"left alone, it is {do} already"
    return Printed(
        {**data, "changed": is_new and not dry_run}, [f"{schedule.name}: {said}"], is_new
    )


def _run(schedule: Schedule, by: object, dry_run: bool) -> str | None:
    """The id of the job. A dry run tries it too, so that it is refused alike."""
    try:
        with transaction.atomic():
            job = schedules.run_now(schedule)
            said = f"Started a run by hand: {schedule} {job.pk}"
            audit.note(by, [schedule, job], said)
            transaction.set_rollback(dry_run)
    except Refused as refused:
        raise misused(str(refused)) from None
    return None if dry_run else str(job.pk)


def _find(name: str | None) -> Schedule:
    if name and (row := Schedule.objects.filter(name=name).first()):
        return row
    known = ", ".join(Schedule.objects.order_by("name").values_list("name", flat=True)) or "none"
    raise misused(f"There is no schedule {name}. Known: {known}." if name else f"Name one: {known}")
