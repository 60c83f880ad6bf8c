"""Expressions in words: the common forms, and no wrong words for the others."""

import pytest

from jobs.schedules import words


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("5 * * * *", "every hour at minute 5"),
        ("30 3 * * *", "every day at 03:30"),
        ("0 6 * * 1", "every Monday at 06:00"),
        ("0 6 * * 0", "every Sunday at 06:00"),
        ("0 6 * * 7", "every Sunday at 06:00"),
        ("00 06 * * SAT", "every Saturday at 06:00"),
        ("0 9 * * 1-5", "Monday to Friday at 09:00"),
        ("0 0 1 * *", "every month on day 1 at 00:00"),
        ("0 0 L * *", "on the last day of every month at 00:00"),
        ("0  6  *  *  1", "every Monday at 06:00"),
    ],
)
def test_a_common_form_is_said_in_words(expression, said):
    assert words.describe(expression, "Asia/Tokyo") == f"{said} (Asia/Tokyo)"


@pytest.mark.parametrize(
    "expression",
    ["*/7 * * * *", "0 0 31 * *", "0 6 1 * 1", "0 6 * 5 *", "0 6,18 * * *", "nonsense", ""],
)
def test_any_other_form_is_shown_as_it_is(expression):
    assert words.describe(expression, "UTC") == f"{expression} (UTC)"
