"""Staff ask again: for one spot, one paragraph, or all that no person has edited."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from guides.derived.prices import Price
from guides.derived.versions import payload_hash
from guides.models import Guide, SpotDetail
from guides.writing import asking, checks, keepers, requests, texts
from guides.writing.models import Manuscript, PlannedSpot, SpotState


class Refused(Exception):
    """Nothing can be asked for now; its text tells a person why."""


class Order(NamedTuple):
    """What would be asked for again."""

    what: str
    asked: list[dict[str, Any]]  # the requests
    targets: list[dict[str, Any]]  # what each is about; none: it is the outline
    left_alone: int = 0  # texts that a person has edited since

    @property
    def price(self) -> Price:
        if not self.targets:
            return requests.price_of_outline()
        return requests.price_of_texts(len(self.asked))


def plan_again(manuscript: Manuscript, what: str) -> Order:
    """What asking for this again means; raises Refused.

    `what` is all, summary:<paragraph>, spot:<id>, paragraph:<spot>:<number> or planned:<id>. One
    named text is asked for whoever wrote it; all leaves alone what a person has edited.
    """
    if manuscript.is_open:
        raise Refused(_("Its texts are being written already. Ask again when they are here."))
    if manuscript.guide.withdrawn_at:
        raise Refused(_("This guide is withdrawn. Publish it first."))
    kind, _colon, rest = what.partition(":")
    numbers = [int(each) for each in rest.split(":") if each.isdecimal() and len(each) < 19]
    plan = PLANS.get((kind, len(numbers)))
    if plan is None or what != ":".join([kind, *map(str, numbers)]):
        raise Refused(_("There is no such text."))
    order = plan(Manuscripted(manuscript), *numbers)
    if not order.asked:
        raise Refused(_("There is nothing to ask for: people have edited all of its texts."))
    return order._replace(what=what)


class Manuscripted:
    """A manuscript's texts, and the requests for each."""

    def __init__(self, manuscript: Manuscript) -> None:
        self.manuscript = manuscript
        self.guide = manuscript.guide

    def all(self) -> Order:
        planned = list(self.manuscript.planned.all())
        rows: list[Any] = [self.guide, *self.guide.spots.all()]
        if len(rows) == 1 and not planned:
            return Order("", [requests.outline(self.manuscript)], [])
        known = texts.written(rows)
        models_own = [row for row in rows if texts.unit(row) in known]
        untouched = [row for row in models_own if texts.is_untouched(row, known)]
        pairs = [self.anew(row) for row in untouched]
        there = {checks.same(row.spot_name) for row in rows[1:]}
        pairs += [
            self.first_text(each)
            for each in planned
            if each.state == SpotState.FAILED and checks.same(each.name) not in there
        ]
        return order_of(pairs, left_alone=len(models_own) - len(untouched))

    def anew(self, row: Guide | SpotDetail) -> Any:
        if isinstance(row, Guide):
            return self.part(row, None)
        planned = self.manuscript.planned.filter(name=row.spot_name).first()
        planned = planned or PlannedSpot(name=row.spot_name, tags=row.topic_tags)
        request = requests.spot(self.manuscript, self.guide.title, planned, row.description)
        return request, self.target(row, "description", None)

    def first_text(self, planned: PlannedSpot) -> Any:
        request = requests.spot(self.manuscript, self.guide.title, planned)
        return request, {"kind": "planned", "planned": planned.pk}

    def part(self, row: Guide | SpotDetail, number: int | None) -> Any:
        """One paragraph, or the whole summary."""
        text = row.summary if isinstance(row, Guide) else row.description
        known = texts.paragraphs(text)
        if number is not None and number >= len(known):
            raise Refused(_("There is no such text."))
        old = text if number is None else known[number]
        name = "" if isinstance(row, Guide) else row.spot_name
        request = requests.paragraph(self.manuscript, self.guide.title, name, text, old)
        return request, self.target(row, "paragraph", number)

    def target(self, row: Guide | SpotDetail, answer: str, number: int | None) -> dict[str, Any]:
        is_guide = isinstance(row, Guide)
        return {
            "kind": "summary" if is_guide else "spot",
            "spot": None if is_guide else row.pk,
            "answer": answer,
            "number": number,
            "text": row.summary if isinstance(row, Guide) else row.description,
            "hash": payload_hash(texts.payload(row)),
        }

    # One named text

    def summary(self, number: int) -> Order:
        return order_of([self.part(self.guide, number)])

    def spot(self, pk: int) -> Order:
        return order_of([self.anew(self.find(pk))])

    def paragraph(self, pk: int, number: int) -> Order:
        return order_of([self.part(self.find(pk), number)])

    def planned(self, pk: int) -> Order:
        found = self.manuscript.planned.filter(pk=pk, state=SpotState.FAILED).first()
        names = self.guide.spots.values_list("spot_name", flat=True)
        if found is None or checks.same(found.name) in map(checks.same, names):
            raise Refused(_("There is no such text."))
        return order_of([self.first_text(found)])

    def find(self, pk: int) -> SpotDetail:
        found = self.guide.spots.filter(pk=pk).first()
        if found is None:
            raise Refused(_("There is no such text."))
        return found


PLANS: dict[tuple[str, int], Callable[..., Order]] = {
    ("all", 0): Manuscripted.all,
    ("summary", 1): Manuscripted.summary,
    ("spot", 1): Manuscripted.spot,
    ("paragraph", 2): Manuscripted.paragraph,
    ("planned", 1): Manuscripted.planned,
}


def order_of(pairs: list[Any], left_alone: int = 0) -> Order:
    return Order("", [pair[0] for pair in pairs], [pair[1] for pair in pairs], left_alone)


@transaction.atomic
def ask_again(plan_id: str, what: str, *, by: object) -> Order:
    """Ask for some texts again; raises Refused, also while others are on their way."""
    for guide in Guide.objects.select_for_update(no_key=True).filter(pk=plan_id):
        for manuscript in Manuscript.objects.select_for_update().filter(guide=guide):
            manuscript.guide = guide
            order = plan_again(manuscript, what)
            if not order.targets:
                asking.ask_outline(manuscript, by)
                return order
            planned = [each["planned"] for each in order.targets if each["kind"] == "planned"]
            rows = PlannedSpot.objects.filter(pk__in=planned)
            rows.update(state=SpotState.WRITING, error="")
            keepers.ask_texts(manuscript, order.asked, order.targets, by=by)
            return order
    raise Refused(_("No model has written this guide."))
