"""The table that `make bench` prints."""

from collections.abc import Mapping
from typing import NamedTuple

MISSING = "–"
OURS = "tabie"
NO_PEERS = {OURS, "tabie-tasks", "bare-loop"}


class Row(NamedTuple):
    title: str
    form: str = "{:,.0f}"
    is_better: str = "higher"  # or lower; empty: nothing to compare


ROWS = {
    "enqueue": Row("enqueue one, jobs/s"),
    "insert": Row("  a plain ORM insert, rows/s"),
    "bulk": Row("enqueue in bulk, jobs/s"),
    "made": Row("  without making their objects, jobs/s"),
    "drain": Row("drain, one worker, jobs/s"),
    "drain_two": Row("drain, two workers, jobs/s"),
    "notes": Row("  jobs that write to a file, one worker"),
    "notes_two": Row("  the same, two workers"),
    "commits": Row("transactions per job", "{:.3f}", ""),
    "pick_up_p50": Row("pick-up after calling enqueue, p50, ms", "{:,.1f}", "lower"),
    "pick_up_p99": Row("  p99, ms", "{:,.1f}", "lower"),
    "pick_up_returned": Row("  after its return, p50, ms", "{:,.1f}", "lower"),
    "pick_up_returned_p99": Row("  after its return, p99, ms", "{:,.1f}", "lower"),
    "naps": Row("50 slots kept full, share", "{:.2f}"),
    "depth": Row("drain of a deep table, share", "{:.2f}", ""),
    "look": Row("  an idle look over it, ms", "{:.2f}", ""),
    "memory": Row("memory of a worker, MB", "{:.0f}", ""),
    "idle": Row("idle transactions/s", "{:.2f}", ""),
}


def render(results: Mapping[str, Mapping[str, float]]) -> str:
    """Draw figures as rows and queues as columns, and how Tabie is beside the best of the others.

    Only figures of one run are set beside each other: those of another day are of another machine.
    """
    lines = [["", *results, "of the best"]]
    for figure, row in ROWS.items():
        values = [measured.get(figure) for measured in results.values()]
        cells = [MISSING if value is None else row.form.format(value) for value in values]
        lines.append([row.title, *cells, _share(results, figure, row.is_better)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(_line(line, widths) for line in lines)


def _share(results: Mapping[str, Mapping[str, float]], figure: str, is_better: str) -> str:
    """Above 1: Tabie is better than every other queue of this run."""
    others = [
        each[figure] for name, each in results.items() if name not in NO_PEERS and figure in each
    ]
    ours = results.get(OURS, {}).get(figure)
    if not (is_better and others and ours):
        return ""
    share = ours / max(others) if is_better == "higher" else min(others) / ours
    return f"{share:.2f}"


def _line(cells: list[str], widths: list[int]) -> str:
    title, *values = cells
    shown = [value.rjust(width) for value, width in zip(values, widths[1:], strict=True)]
    return "  ".join([title.ljust(widths[0]), *shown]).rstrip()
