"""Processes: how far each group of jobs is, what it waits for, and what followed."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db import Error, transaction
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from jobs.admin import hurrying
from jobs.admin.asking import AskingAdmin, Question
from jobs.admin.bars import bar
from jobs.admin.base import Rows, as_uuid, link_to, may_see, page_of
from jobs.admin.filters import ProcessFilter, ProcessStateFilter, refuse_nul
from jobs.admin.skin import display
from jobs.console import actions, audit, processes, stalls, subjects
from jobs.console.shown import number
from jobs.db import clock, faults
from jobs.models import Job, Process, Status
from jobs.queue import processes as moves

COLOURS = {colour: colour for colour in ("success", "info", "danger", "plain")}
CANCEL, FOLLOW, DISMISS = "cancel", "follow", "dismiss"
RECOUNT, SEAL = "recount", "seal"


@admin.register(Process)
class ProcessAdmin(AskingAdmin):
    list_display = [
        *("subject", "state", "bar", "finished", "failures", "canceled_jobs", "open_jobs"),
        *("situation", "lasts"),
    ]
    list_display_links = ["subject"]
    list_filter = [ProcessStateFilter]
    ordering = ["-created_at"]
    list_per_page = 20
    search_fields = ["id"]  # only to show the search box
    search_help_text = _("id of a process")
    change_form_template = "admin/jobs/process.html"
    question_names = (CANCEL, hurrying.HURRY, FOLLOW, DISMISS, RECOUNT, SEAL)

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        if not search_term.strip():
            return queryset, False
        id = as_uuid(search_term.strip())
        return (queryset.filter(pk=id) if id else queryset.none()), False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        refuse_nul(request)
        return super().changelist_view(request, extra_context)

    # The list

    def adorn(self, rows: list[Any]) -> None:
        for course in processes.look(rows):
            course.process.course = course  # type: ignore[attr-defined]

    @admin.display(description=_("process"))
    def subject(self, process: Process) -> str:
        return str(process)

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, process: Any) -> tuple[str, str]:
        return process.course.colour, process.course.state

    @admin.display(description=_("progress"))
    def bar(self, process: Process) -> str:
        return bar_of(process)

    @admin.display(description=_("ended of all"))
    def finished(self, process: Process) -> str:
        return f"{number(process.ended)} / {number(process.total)}"

    @admin.display(description=_("failed"))
    def failures(self, process: Process) -> str:
        return number(process.failed)

    @admin.display(description=_("canceled"))
    def canceled_jobs(self, process: Process) -> str:
        return number(process.canceled)

    @admin.display(description=pgettext_lazy("process", "open"))
    def open_jobs(self, process: Process) -> str:
        return number(process.open)

    @admin.display(description=_("waits for"))
    def situation(self, process: Any) -> str:
        if process.follow_error:
            return gettext("What should follow could not be enqueued.")
        return str(process.course.situation)

    @admin.display(description=_("time"))
    def lasts(self, process: Any) -> str:
        return str(process.course.time)

    # The page of one process

    def describe(self, request: HttpRequest, process: Process) -> dict[str, Any]:
        [course] = processes.look([process])
        subject = subjects.about([process.pk]).get(process.pk)
        return {
            "process": process,
            "course": course,
            "subject": subject,
            "subject_links": links(request, *subject.rows) if subject else [],
            "follower": follower(request, course.follower) if course.follower else None,
            "is_stalled": bool(stalls.among([process.pk], clock.now())),
            "bar": bar_of(process),
            "kinds": [self.kind(request, process, kind) for kind in processes.kinds(process)],
            "buttons": self.buttons(request, process),
            "log": audit.about(process)[:20],
            "is_final": process.ended_at is not None,
        }

    def kind(self, request: HttpRequest, process: Process, kind: processes.Kind) -> dict[str, Any]:
        """One kind of its jobs, with links to the lists that this user may open."""
        query = {ProcessFilter.parameter_name: str(process.pk)}
        page = self.admin_site._registry.get(kind.model)
        is_open = page is not None and page.has_view_or_change_permission(request)
        return {
            "name": kind.name,
            "total": kind.total,
            "link": link_to(kind.model, query) if is_open else "",
            "statuses": [
                {
                    "status": status.value,
                    "label": status.label,
                    "number": count,
                    "link": link_to(kind.model, {**query, "status__exact": status.value})
                    if is_open
                    else "",
                }
                for status, count in kind.numbers.items()
            ],
        }

    # What people ask for

    def questions(self, request: HttpRequest, process: Process) -> list[Question]:
        offered = []
        if process.open:
            effects = partial(self.effects, request, process)
            offered.append(Question(CANCEL, _("Cancel its jobs"), effects))
        offered += hurrying.questions(processes.waiting_calls(process))
        if process.follow_error:
            text = gettext("If it can’t be enqueued again, the process says why.")
            offered.append(Question(FOLLOW, _("Enqueue what follows again"), lambda: [text]))
            end = gettext("Nothing follows this process, and it no longer needs a person.")
            offered.append(Question(DISMISS, _("Let nothing follow"), lambda: [end]))
        if stalls.among([process.pk], clock.now()):
            offered.append(self.way_out(process))
        return offered

    def way_out(self, process: Process) -> Question:
        """What ends a process that stalls."""
        lines = [gettext("If none of its jobs is open, it ends, and what follows starts.")]
        if not process.sealed:
            lines.append(gettext("No job can be added to it any more."))
            return Question(SEAL, _("All its jobs are added"), lambda: lines)
        lines.append(gettext("Jobs that no longer exist count as ended."))
        return Question(RECOUNT, _("Count its jobs again"), lambda: lines)

    def effects(self, request: HttpRequest, process: Process) -> list[str]:
        lines = []
        for kind in processes.kinds(process):
            living = kind.numbers[Status.QUEUED] + kind.numbers[Status.PROCESSING]
            facts = {"kind": kind.name, "number": living}
            if living and may_change(request, kind.model):
                lines.append(gettext("%(kind)s to be canceled: %(number)s") % facts)
            elif living:
                text = gettext("%(kind)s that you may not cancel: %(number)s")
                lines.append(text % facts)
        lines.append(gettext("Jobs that have ended stay as they are."))
        text = gettext("Calls in a batch that was sent are still paid for; their answers are kept.")
        lines.append(text)
        if process.follow and not process.followed_at:
            lines.append(gettext("With its last job the process ends, and what follows starts."))
        return lines

    def carry_out(self, request: HttpRequest, process: Process, name: str) -> None:
        {
            CANCEL: self.cancel,
            hurrying.HURRY: self.hurry,
            FOLLOW: self.follow,
            DISMISS: self.dismiss,
            RECOUNT: self.recount,
            SEAL: self.seal,
        }[name](request, process)

    def cancel(self, request: HttpRequest, process: Process) -> None:
        """Cancel its living jobs, kind by kind, within the time that a request has."""
        canceled, is_over = 0, True
        for kind in processes.kinds(process):
            if may_change(request, kind.model):
                jobs: Any = kind.model.objects.filter(process_id=process.pk)
                try:
                    done = actions.carry_out(actions.ACTIONS["cancel"], jobs, request.user)
                except Error as error:
                    if not faults.is_passing(error):
                        raise
                    done = actions.Result(0, process.pk)
                canceled += done.changed
                is_over &= done.last is None
        if canceled:
            audit.note(request.user, [process], gettext_noop("Canceled its jobs."))
        level = messages.SUCCESS if canceled else messages.WARNING
        self.message_user(request, gettext("Jobs canceled: %s.") % number(canceled), level)
        if not is_over:
            text = gettext("Time ran out before all were canceled. Do it again for the rest.")
            self.message_user(request, text, messages.WARNING)

    def hurry(self, request: HttpRequest, process: Process) -> None:
        hurrying.hurry(self, request, process, processes.waiting_calls(process))

    def follow(self, request: HttpRequest, process: Process) -> None:
        with transaction.atomic():
            followed = moves.follow_again(process)
            audit.note(request.user, [process], gettext_noop("Enqueued what follows again."))
        if followed:
            self.message_user(request, gettext("What follows is enqueued."), messages.SUCCESS)
        else:
            text = gettext("It could not be enqueued again: see the process.")
            self.message_user(request, text, messages.WARNING)

    def dismiss(self, request: HttpRequest, process: Process) -> None:
        with transaction.atomic():
            moves.let_nothing_follow(process)
            audit.note(request.user, [process], gettext_noop("Let nothing follow."))
        self.message_user(request, gettext("Nothing follows this process."), messages.SUCCESS)

    def recount(self, request: HttpRequest, process: Process) -> None:
        with transaction.atomic():
            moves.recount(process.pk)
            audit.note(request.user, [process], gettext_noop("Counted its jobs again."))
        self.message_user(request, gettext("Its jobs are counted again."), messages.SUCCESS)

    def seal(self, request: HttpRequest, process: Process) -> None:
        with transaction.atomic():
            moves.seal(process)
            moves.recount(process.pk)  # some of them may no longer exist
            audit.note(request.user, [process], gettext_noop("Said that all its jobs are added."))
        self.message_user(request, gettext("No job can be added any more."), messages.SUCCESS)


def links(request: HttpRequest, *rows: Any) -> list[dict[str, str]]:
    """The pages of these rows that this user may open."""
    return [
        {"kind": str(row._meta.verbose_name), "name": str(row), "link": page_of(row)}
        for row in rows
        if may_see(request, type(row))
    ]


def follower(request: HttpRequest, job: Job) -> dict[str, str]:
    """What followed: its status, and its page if this user may open it."""
    link = page_of(job) if may_see(request, type(job)) else ""
    return {"status": job.status, "label": str(Status(job.status).label), "link": link}


def may_change(request: HttpRequest, model: Any) -> bool:
    return request.user.has_perm(f"{model._meta.app_label}.change_{model._meta.model_name}")


def bar_of(process: Process) -> str:
    portions = [
        ("success", process.succeeded),
        ("danger", process.failed),
        ("plain", process.canceled),
    ]
    text = gettext(
        "%(percent)s %% ended: %(succeeded)s succeeded, %(failed)s failed, %(canceled)s canceled"
    ) % {
        "percent": process.percent,
        "succeeded": number(process.succeeded),
        "failed": number(process.failed),
        "canceled": number(process.canceled),
    }
    return bar(portions, process.total, text)
