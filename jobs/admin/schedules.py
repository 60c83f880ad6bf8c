"""Schedules: when each runs next, how its last run went, and what people may change."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from jobs import schedules
from jobs.admin.asking import AskingAdmin, Question
from jobs.admin.base import AdornedChangeList, Rows, may_see, page_of
from jobs.admin.jobs import COLOURS as JOB_COLOURS
from jobs.admin.skin import TextInput, display
from jobs.console import audit, sentences
from jobs.console import schedules as standings
from jobs.console.schedules import Standing
from jobs.console.shown import NOT_KNOWN, moment, number
from jobs.models import Schedule
from jobs.schedules import times, validity, zones

COLOURS = {colour: colour for colour in ("success", "danger", "plain")}
FIELDS = ("cron", "time_zone", "grace", "overlap")
RUN, ON, OFF, RESTORE = "run", "on", "off", "restore"
STARTED = sentences.sentence(gettext_noop("Started a run by hand: %s"))
RESTORED = sentences.sentence(gettext_noop("Went back to what the code declares: %s"))


class ScheduleForm(forms.ModelForm):
    """Refuses what can't be a schedule, with the reason at its field."""

    class Meta:
        model = Schedule
        fields = FIELDS

    def clean_cron(self) -> Any:
        cron = self.cleaned_data["cron"]
        return _checked(cron, lambda: times.check(cron, "UTC"))

    def clean_time_zone(self) -> Any:
        name = self.cleaned_data["time_zone"]
        return _checked(name, lambda: zones.load(name))

    def clean_grace(self) -> Any:
        grace = self.cleaned_data["grace"]
        return _checked(grace, lambda: validity.check_times("* * * * *", "UTC", grace))


def _checked(value: Any, check: Any) -> Any:
    try:
        check()
    except ValueError as error:
        raise forms.ValidationError(str(error)) from None
    return value


class ScheduleChangeList(AdornedChangeList):
    """Links to the last runs that this user may open."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        for row in self.result_list:
            row.last_link = self.model_admin.link_of(request, row.standing)


@admin.register(Schedule)
class ScheduleAdmin(AskingAdmin):
    form = ScheduleForm
    list_display = ["name", "state", "times", "next_run", "last_run", "skipped_runs"]
    ordering = ["name"]
    search_fields = ["name"]  # only to show the search box
    search_help_text = _("name of a schedule")
    change_form_template = "admin/jobs/schedule.html"
    question_names = (RUN, ON, OFF, RESTORE)
    fieldsets = [(_("change"), {"fields": FIELDS})]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "change")

    # The list

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        """By the whole name: it may have spaces, at which Django would split it."""
        term = search_term.strip().replace("\x00", "")
        return (queryset.filter(name=term) if term else queryset), False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ScheduleChangeList]:
        return ScheduleChangeList

    def adorn(self, rows: list[Any]) -> None:
        for standing in standings.look(rows):
            standing.schedule.standing = standing  # type: ignore[attr-defined]

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, schedule: Any) -> tuple[str, str]:
        return schedule.standing.colour, schedule.standing.state

    @admin.display(description=_("when"))
    def times(self, schedule: Any) -> str:
        return str(schedule.standing.times)

    @admin.display(description=_("next run"))
    def next_run(self, schedule: Any) -> str:
        standing = schedule.standing
        return " – ".join(filter(None, [standing.next_text, standing.paused]))

    @admin.display(description=_("last run"))
    def last_run(self, schedule: Any) -> str:
        if (job := schedule.standing.last) is None:
            return NOT_KNOWN
        text = f"{moment(job.scheduled_for or job.created_at)} {job.get_status_display()}"
        link = schedule.last_link
        return format_html('<a href="{}">{}</a>', link, text) if link else text

    @admin.display(description=_("skipped runs"))
    def skipped_runs(self, schedule: Any) -> str:
        if not schedule.skipped:
            return "0"
        return f"{number(schedule.skipped)} – {schedule.standing.skip_reason}"

    # The page of one schedule

    def describe(self, request: HttpRequest, schedule: Schedule) -> dict[str, Any]:
        [standing] = standings.look([schedule])
        return {
            "schedule": schedule,
            "standing": standing,
            "last_link": self.link_of(request, standing),
            "last_colour": JOB_COLOURS.get(standing.last.status, "") if standing.last else "",
            "buttons": self.buttons(request, schedule),
            "log": audit.about(schedule)[:20],
        }

    def link_of(self, request: HttpRequest, standing: Standing) -> str:
        job = standing.last
        return page_of(job) if job and may_see(request, type(job)) else ""

    # The form

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Send the shown value along, so that saving an old form doesn't undo newer changes."""
        if db_field.name in ("cron", "time_zone"):
            kwargs["widget"] = TextInput
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field:
            field.show_hidden_initial = True
            field.help_text = HELP.get(db_field.name, field.help_text)
        return field

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        edited = {
            name: (form.initial.get(name), form.cleaned_data[name]) for name in form.changed_data
        }
        default = super().construct_change_message(request, form, formsets, add)
        return standings.changes_text(edited) or default

    def save_model(self, request: HttpRequest, obj: Schedule, form: Any, change: bool) -> None:
        """Write the edited columns only, and say when it runs next."""
        changes = schedules.change(obj, **{name: getattr(obj, name) for name in form.changed_data})
        if changes:
            self.tell_next(request, obj)

    def tell_next(self, request: HttpRequest, schedule: Schedule) -> None:
        [standing] = standings.look([Schedule.objects.get(pk=schedule.pk)])
        if standing.next_run:
            text = gettext("%(name)s runs %(times)s, next at %(moment)s.")
        else:
            text = gettext("%(name)s does not run: it is %(state)s.")
        text %= {
            "name": schedule.name,
            "times": standing.times,
            "moment": moment(standing.next_run),
            "state": standing.state,
        }
        self.message_user(request, text, messages.INFO)

    # What people ask for

    def questions(self, request: HttpRequest, schedule: Schedule) -> list[Question]:
        [standing] = standings.look([schedule])
        offered = []
        if not schedule.undeclared_at and not standing.fault:
            effects = [
                gettext("A job is enqueued now: %(kind)s.") % {"kind": standing.kind},
                gettext("Its timetable stays as it is: the next run comes as planned."),
            ]
            offered.append(Question(RUN, _("Run now"), lambda: effects))
        if schedule.enabled:
            offered.append(Question(OFF, _("Switch off"), asks=False))
        else:
            offered.append(Question(ON, _("Switch on"), asks=False))
        if changed := standing.changed:
            lines = [f"{each.name}: {each.value} → {each.declared}" for each in changed]
            offered.append(Question(RESTORE, _("Back to the code’s values"), lambda: lines))
        return offered

    def carry_out(self, request: HttpRequest, schedule: Schedule, name: str) -> None:
        if name == RUN:
            self.run(request, schedule)
        elif name == RESTORE:
            self.restore(request, schedule)
        else:
            self.switch(request, schedule, on=name == ON)

    def run(self, request: HttpRequest, schedule: Schedule) -> None:
        try:
            with transaction.atomic():
                job = schedules.run_now(schedule)
                audit.note(request.user, [schedule, job], STARTED % f"{schedule} {job.pk}")
        except schedules.Refused as refused:
            self.message_user(request, str(refused), messages.WARNING)
        else:
            self.message_user(request, gettext("A run is enqueued: %s.") % job, messages.SUCCESS)

    def switch(self, request: HttpRequest, schedule: Schedule, *, on: bool) -> None:
        said = gettext_noop("Switched on.") if on else gettext_noop("Switched off.")
        with transaction.atomic():
            if schedules.switch(schedule, on=on):
                audit.note(request.user, [schedule], said)
        self.tell_next(request, schedule)

    def restore(self, request: HttpRequest, schedule: Schedule) -> None:
        with transaction.atomic():
            changes = standings.changes_text(schedules.restore(schedule))
            if changes:
                audit.note(request.user, [schedule], RESTORED % changes)
        self.tell_next(request, schedule)


HELP = {
    "cron": _("minute, hour, day of the month, month, day of the week; e.g. 0 6 * * 1"),
    "time_zone": _("its IANA name, e.g. Asia/Tokyo"),
    "grace": _(
        "how late a run may start, in hours:minutes:seconds, e.g. 01:30:00;"
        " empty: until the next run, at most a day"
    ),
}
