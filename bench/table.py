"""The table that `make bench` prints."""

from collections.abc import Mapping

MISSING = "–"

ROWS = {
    "enqueue": ("enqueue one, jobs/s", "{:,.0f}"),
    "insert": ("  a plain ORM insert, rows/s", "{:,.0f}"),
    "bulk": ("enqueue in bulk, jobs/s", "{:,.0f}"),
    "made": ("  without making their objects, jobs/s", "{:,.0f}"),
    "drain": ("drain, one worker, jobs/s", "{:,.0f}"),
    "drain_two": ("drain, two workers, jobs/s", "{:,.0f}"),
    "notes": ("  jobs that write to a file, one worker", "{:,.0f}"),
    "commits": ("transactions per job", "{:.3f}"),
    "pick_up_p50": ("pick-up after calling enqueue, p50, ms", "{:,.1f}"),
    "pick_up_p99": ("  p99, ms", "{:,.1f}"),
    "pick_up_returned": ("  after its return, p50, ms", "{:,.1f}"),
    "pick_up_returned_p99": ("  after its return, p99, ms", "{:,.1f}"),
    "naps": ("50 slots kept full, share", "{:.2f}"),
    "depth": ("drain of a deep table, share", "{:.2f}"),
    "look": ("  an idle look over it, ms", "{:.2f}"),
    "memory": ("memory of a worker, MB", "{:.0f}"),
    "idle": ("idle transactions/s", "{:.2f}"),
}


def render(results: Mapping[str, Mapping[str, float]]) -> str:
    """Draw figures as rows and queues as columns."""
    lines = [["", *results]]
    for figure, (title, form) in ROWS.items():
        values = [measured.get(figure) for measured in results.values()]
        lines.append([title, *(MISSING if v is None else form.format(v) for v in values)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: list[str], widths: list[int]) -> str:
    title, *values = cells
    shown = [value.rjust(width) for value, width in zip(values, widths[1:], strict=True)]
    return "  ".join([title.ljust(widths[0]), *shown]).rstrip()
