"""python -m bench.scale [--only idle,snapshot]: what one PostgreSQL carries, and what grows.

Prints one table. The last column says how many cores other programs used meanwhile: a figure
taken beside a busy neighbour is an upper bound of time and a lower bound of speed.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator

from bench.scale import figures
from bench.scale.figures import Line
from bench.scale.place import ALL
from bench.server import running_server

Section = Callable[[argparse.Namespace], Iterator[Line]]


def idle(options: argparse.Namespace) -> Iterator[Line]:
    for workers in options.idle:
        yield from figures.idle(workers, options.seconds)
    yield from figures.idle(1, options.seconds, ALL)


def drain(options: argparse.Namespace) -> Iterator[Line]:
    for workers in options.workers:
        yield from figures.drain(workers, options.jobs)


SECTIONS: dict[str, Section] = {
    "idle": idle,
    "drain": drain,
    "models": lambda options: figures.models(),
    "snapshot": lambda options: figures.snapshot(options.dead),
    "rows": lambda options: figures.rows(options.rows),
}


def main() -> None:
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # SystemExit runs every `finally`
    with running_server():
        try:
            migrate()
            print(f"{'':58} {'':>10} {'':16} others' cores, of {os.cpu_count()}")
            for name in options.only:
                show(SECTIONS[name](options))
        finally:
            figures.close()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--only", type=sections, default=list(SECTIONS), help="e.g. idle,drain")
    parser.add_argument("--idle", type=numbers, default=[1, 10, 50, 100], metavar="WORKERS,…")
    parser.add_argument("--seconds", type=float, default=20, help="of each idle fleet (20)")
    parser.add_argument("--workers", type=numbers, default=[2, 8, 16], metavar="WORKERS,…")
    parser.add_argument("--jobs", type=int, default=40_000, help="of each drain (40,000)")
    parser.add_argument("--dead", type=int, default=1_000_000, help="ended under a snapshot")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of ended jobs")
    return parser.parse_args()


def sections(names: str) -> list[str]:
    chosen = names.split(",")
    if unknown := set(chosen) - set(SECTIONS):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: known are {', '.join(SECTIONS)}")
    return chosen


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", run_syncdb=True, verbosity=0)


def show(lines: Iterable[Line]) -> None:
    for what, value, unit, others in lines:
        shown = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
        print(f"{what:58} {shown:>10} {unit:16} {others:.1f}", flush=True)


if __name__ == "__main__":
    main()
