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
    # Sent in a header; the error of a bad header would quote the key.
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise ImproperlyConfigured(f"{name}_API_KEY contains a character that no key has.")
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ImproperlyConfigured(
            f"{name}_BASE_URL must begin with http:// or https://, unlike {base_url!r}."
        )


def installed(module: str) -> bool:
    """Whether it could be imported, found out without the seconds that importing takes."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False
