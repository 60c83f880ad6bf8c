"""Headers of every response, whatever made it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# The site uses none of these; an injected script or a foreign frame shall not either.
UNUSED = (
    *("accelerometer", "bluetooth", "browsing-topics", "camera", "display-capture"),
    *("geolocation", "gyroscope", "hid", "microphone", "midi", "payment"),
    *("screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
)
PERMISSIONS = ", ".join(f"{feature}=()" for feature in UNUSED)


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def add_headers(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if "://" in response.headers.get("Location", ""):
            # A redirect to https repeats the client's Host header: no cache may keep it.
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return add_headers
