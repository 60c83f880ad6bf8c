"""The benchmark compares queues within one run, and never with figures of another."""

import argparse

import pytest

from bench import table
from bench.__main__ import new

FIGURES = {
    "tabie": {"drain": 30_000.0, "pick_up_p50": 2.0, "insert": 2_000.0},
    "bare-loop": {"drain": 90_000.0, "pick_up_p50": 0.5},
    "quick": {"drain": 40_000.0, "pick_up_p50": 1.0},
    "slow": {"drain": 400.0},
}


def cells(title, figures):
    [line] = [line for line in table.render(figures).splitlines() if line.startswith(title)]
    return line.removeprefix(title).split()


def test_each_row_tells_how_tabie_is_beside_the_best_of_the_others():
    assert cells("drain, one worker, jobs/s", FIGURES)[-1] == "0.75"
    assert cells("pick-up after calling enqueue, p50, ms", FIGURES)[-1] == "0.50"


@pytest.mark.parametrize("left_out", ["tabie", "quick"])
def test_nothing_is_compared_with_what_was_not_measured(left_out):
    alone = {name: row for name, row in FIGURES.items() if name != left_out and name != "slow"}

    assert cells("drain, one worker, jobs/s", alone)[-1] in ("90,000", "40,000")
    assert cells("  a plain ORM insert, rows/s", FIGURES) == ["2,000", *[table.MISSING] * 3]


def test_figures_of_another_run_are_not_written_over(tmp_path):
    kept = tmp_path / "figures.json"
    kept.write_text("{}")

    with pytest.raises(
        argparse.ArgumentTypeError, match=r"figures.json has the figures of another"
    ):
        new(str(kept))
