"""Which language a text on a page is in."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()


@register.filter
def lang(text: object) -> SafeString | str:
    """The attribute for an element whose text, or code of a language, is not the page's own."""
    code = str(getattr(text, "language", text))
    return "" if not code or code == get_language() else format_html(' lang="{}"', code)
