"""A minimal Django site: it shows what the framework and gunicorn cost by themselves."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(ROOT_URLCONF=__name__, MIDDLEWARE=[], ALLOWED_HOSTS=["*"])


def hello(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Hello", content_type="text/plain", headers={"Content-Length": "5"})


urlpatterns = [path("", hello)]
application = get_wsgi_application()
