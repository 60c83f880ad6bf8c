"""Headers of every response, whatever made it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# The site uses none of these; an injected script or a foreign frame must not either. Only names
# that browsers know: for others they complain on every page.
UNUSED = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid"),
    *("magnetometer", "microphone", "midi", "payment", "serial", "usb", "xr-spatial-tracking"),
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
