"""What is said when something of ours went wrong: a page to people, JSON to programs."""

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from guides import answers


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return answers.refusal(500, "server_error", "Something went wrong on our side.")
    return defaults.server_error(request)
