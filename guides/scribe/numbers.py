"""Numbers within bounds, and multiples of a step."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any

from guides.scribe.schemas import Flat, fraction

TRIED = 60


def candidates(flat: Flat, wanted: int, *, is_whole: bool = False) -> Iterator[float]:
    """Numbers between the bounds, beginning with the one nearest to the wanted one."""
    low, high = bound(flat, "minimum", max), bound(flat, "maximum", min)
    step = fraction(flat["multipleOf"]) if flat.get("multipleOf") else None
    if is_whole:
        step = Fraction(step.numerator) if step else Fraction(1)
    if step:
        yield from multiples(step, low, high, wanted)
    else:
        yield from between(low, high, Fraction(wanted))


def bound(flat: Flat, name: str, choose: Any) -> Fraction | None:
    exclusive = f"exclusive{name.capitalize()}"
    found = [flat[key] for key in (name, exclusive) if key in flat and type(flat[key]) is not bool]
    return fraction(choose(found)) if found else None


def multiples(
    step: Fraction, low: Fraction | None, high: Fraction | None, wanted: int
) -> Iterator[float]:
    least = None if low is None else ceil(low / step)
    most = None if high is None else floor(high / step)
    start = round(wanted / step)
    if least is not None:
        start = max(start, least)
    if most is not None:
        start = min(start, most)
    near = [start + turn for n in range(TRIED) for turn in ((n, -n) if n else (0,))]
    # Of these floating-point arithmetic says without fault that they are multiples.
    exact = [0, *(sign * 2**n for n in range(TRIED) for sign in (1, -1))]
    for n in [*near, *exact]:
        if (least is None or n >= least) and (most is None or n <= most):
            yield plain(n * step)


def between(low: Fraction | None, high: Fraction | None, wanted: Fraction) -> Iterator[float]:
    if (low is None or low <= wanted) and (high is None or wanted <= high):
        yield plain(wanted)
    if low is not None and high is not None:
        for n in range(1, TRIED):  # halves, thirds, quarters
            yield plain(low + (high - low) * n / (n + 1))
    if high is None:
        start = wanted if low is None else low
        yield from (plain(start + n) for n in range(TRIED))
    elif low is None:
        yield from (plain(high - n) for n in range(TRIED))
    yield from (plain(each) for each in (low, high) if each is not None)


def plain(number: Fraction) -> float:
    return number.numerator if number.denominator == 1 else float(number)
