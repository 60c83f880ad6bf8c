"""How far something is, as a bar. The numbers are beside it in words: colour is a second sign."""

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


def bar(portions: Iterable[tuple[str, int]], total: int, text: str) -> SafeString:
    """Portions in the colours of states, of a total; `text` is for people who can't see it."""
    parts = [(colour, 100 * number / total) for colour, number in portions if number and total]
    drawn = format_html_join(
        "", '<i class="tc-portion-{}" style="width: {}%"></i>', ((c, f"{w:.2f}") for c, w in parts)
    )
    return format_html(
        '<span class="tc-bar tc-portions" role="img" aria-label="{}">{}</span>', text, drawn
    )
