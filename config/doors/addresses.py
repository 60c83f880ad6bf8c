"""The address of a client, also behind a proxy that is trusted."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address


def address_of(request: HttpRequest) -> str:
    """The client's address; "" if it is unknown, such as behind a socket.

    An entry of X-Forwarded-For is added by the proxy that received the request. Everything to the
    left of the last entry that is not one of our proxies may be invented.
    """
    peer = read(request.META.get("REMOTE_ADDR", ""))
    if not settings.TRUST_PROXY:
        return shown(peer)
    for entry in reversed(request.headers.get("X-Forwarded-For", "").split(",")):
        forwarded = read(entry)
        if forwarded is None:  # what is further left can't be believed
            break
        peer = forwarded
        if not is_ours(forwarded):
            break
    return shown(peer)


def group_of(address: str) -> str:
    """What is counted as one client: an IPv6 client owns a whole /64 network."""
    parsed = read(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed, 64), strict=False))
    return address


@lru_cache(maxsize=1_000)
def read(text: str) -> Address | None:
    """The address in a text like 192.0.2.1, 192.0.2.1:1234 or [2001:db8::1]:1234."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def is_ours(address: Address) -> bool:
    return any(address in ip_network(each) for each in settings.TRUSTED_PROXIES)


def shown(address: Address | None) -> str:
    return str(address) if address else ""
