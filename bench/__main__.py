"""python -m bench [--only tabie,pgqueuer] [--quick] [--json FILE]"""

import argparse
import json
import signal
import sys
from pathlib import Path

from bench import table
from bench.contestant import Contestant
from bench.figures import MEASUREMENTS, QUICK, Figures, Sizes
from bench.noise import Noise
from bench.server import running_server

QUEUES = [
    *("tabie", "tabie-tasks", "bare-loop", "pgqueuer", "procrastinate", "django-tasks-db"),
    *("graphile-worker", "pg-boss"),  # need npm
]


def main() -> None:
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # SystemExit runs every `finally`
    reasons: list[str] = []
    noise = Noise()
    with running_server() as server:
        entered = [Contestant(name, server.sockets) for name in options.only]
        figures = race(entered, options.sizes, reasons, noise)
    print(table.render(figures))
    print(noise)
    for reason in reasons:
        print(reason)
    if options.json:
        told = {"figures": figures, "missing": reasons, "noise": str(noise)}
        options.json.write_text(json.dumps(told, indent=2))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure queues.")
    parser.add_argument("--only", type=queues, default=QUEUES, help="e.g. tabie,pgqueuer")
    parser.add_argument("--json", type=new, metavar="FILE", help="write the figures there too")
    parser.add_argument(
        *("--quick", "-q"),
        dest="sizes",
        action="store_const",
        const=QUICK,
        default=Sizes(),
        help="measure less, in less than two minutes",
    )
    return parser.parse_args()


def queues(names: str) -> list[str]:
    chosen = names.split(",")
    if unknown := set(chosen) - set(QUEUES):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: known are {', '.join(QUEUES)}")
    return chosen


def new(file: str) -> Path:
    """A file for this run alone: beside figures of another run these would mean nothing."""
    if Path(file).exists():
        raise argparse.ArgumentTypeError(f"{file} has the figures of another run: name a new file")
    return Path(file)


def race(
    queues: list[Contestant], sizes: Sizes, reasons: list[str], noise: Noise
) -> dict[str, Figures]:
    """Measure every queue; a measurement that fails leaves its reason instead of a figure.

    Each figure is taken of all queues in turn: a machine that is busy for a while slows all.
    """
    figures: dict[str, Figures] = {queue.name: {} for queue in queues}
    ready = [queue for queue in queues if prepare(queue, reasons)]
    for measurement in MEASUREMENTS:
        for queue in ready:
            say(f"{measurement.__name__}: {queue.name} …")
            noise.probe()
            try:
                figures[queue.name] |= measurement(queue, sizes)
            except Exception as error:
                reasons.append(f"{table.MISSING} {queue.name}, {measurement.__name__}: {error}")
    return figures


def prepare(queue: Contestant, reasons: list[str]) -> bool:
    say(f"preparing: {queue.name} …")
    try:
        queue.prepare()
    except Exception as error:
        reasons.append(f"{table.MISSING} {queue.name}: {error}")
        return False
    return True


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
