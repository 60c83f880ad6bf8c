import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from guides import images, makers
from guides.models import SpotDetail


class Command(BaseCommand):
    help = "Makes and stores the picture of one spot, as a worker does, and prints where it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("plan_id")
        parser.add_argument("spot_name")

    def handle(self, *, plan_id: str, spot_name: str, **options: Any) -> None:
        spots = SpotDetail.objects.filter(guide_id=plan_id).select_related("guide")
        spot = spots.filter(spot_name=spot_name).first()
        if spot is None:
            known = ", ".join(spots.values_list("spot_name", flat=True)) or "none"
            raise CommandError(
                f"There is no spot {spot_name!r} in guide {plan_id!r}. It has: {known}."
            )
        request = images.request_for(spot)
        if request.provider != makers.Painter.name:
            raise CommandError(
                f"{request.provider} is paid for: its pictures are made by jobs, which record"
                " every call. Requeue the spot's job in the admin instead."
            )
        with self.step("generate"):
            raw = makers.chosen().draw(request, timeout=0).raw
        picture = images.from_answer(request, raw, self.step)
        self.stdout.write(images.url_of(picture.object_name))

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started_at = time.perf_counter()
        yield
        self.stderr.write(f"{name}: {(time.perf_counter() - started_at) * 1000:.0f} ms")
