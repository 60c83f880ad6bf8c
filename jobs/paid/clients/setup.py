"""What a client needs before it can be used: its package, a key, an address."""

from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured


def check(service: str, *, module: str, package: str, api_key: str, base_url: str) -> None:
    """Raise ImproperlyConfigured, naming the command or the variable, if something is missing."""
    name = service.upper()
    if not installed(module):
        raise ImproperlyConfigured(
            f"{service} needs the package {package}: pip install -r requirements-{service}.txt"
        )
    if not api_key:
        raise ImproperlyConfigured(f"{name}_API_KEY is not set, and {service} can't do without it.")
    # The key is sent in a header, and the error about a bad header would quote it.
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise ImproperlyConfigured(f"{name}_API_KEY contains a character that no key has.")
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ImproperlyConfigured(
            f"{name}_BASE_URL must begin with http:// or https://, unlike {base_url!r}."
        )


def installed(module: str) -> bool:
    """Whether it can be imported, without importing it, which takes seconds."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
