"""No page can keep the database busy: facets are off, and every statement has a limit."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from config import urls
from jobs.db import sessions

LONG = 20  # seconds; far beyond the limit of these tests


def ask(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def limit():
    return ask("SELECT current_setting('statement_timeout')")


def slow(request):
    return HttpResponse(ask(f"SELECT pg_sleep({LONG})"))


def slow_in_transaction(request):
    with transaction.atomic():
        User.objects.exists()
        return slow(request)


def limits(request):
    with transaction.atomic():
        User.objects.exists()
        inside = limit()
    with sessions.short_transaction():
        own = limit()
    return HttpResponse(" ".join([limit(), inside, own]))


def whole(request):
    """Writes and reads as pages do."""
    user = User.objects.create(username="100%")
    changed = User.objects.filter(pk=user.pk).update(first_name="Mika")
    names = [user.first_name for user in User.objects.iterator()]
    return HttpResponse(f"{changed} {names} {User.objects.filter(pk=user.pk).delete()[0]}")


urlpatterns = [
    path("slow/", slow),
    path("slow-in-transaction/", slow_in_transaction),
    path("api/slow/", csrf_exempt(slow)),
    path("limits/", limits),
    path("whole/", whole),
    *urls.urlpatterns,
]
handler400 = urls.handler400
handler500 = urls.handler500

in_real_transactions = pytest.mark.django_db(transaction=True)


@pytest.fixture
def impatient(settings):
    settings.ROOT_URLCONF = __name__
    settings.WEB_STATEMENT_TIMEOUT = 0.2


@pytest.mark.postgres
@in_real_transactions
@pytest.mark.parametrize("address", ["/slow/", "/slow-in-transaction/", "/api/slow/"])
def test_a_page_that_takes_too_long_is_ended_with_a_sentence(client, impatient, address):
    answer = client.get(address)

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "Please try again in a moment." in answer.content.decode()
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.postgres
@in_real_transactions
def test_a_transaction_with_a_limit_of_its_own_keeps_it(client, impatient):
    assert client.get("/limits/").content == b"200ms 200ms 10s"


@pytest.mark.postgres
@in_real_transactions
def test_the_limit_ends_with_the_request_and_its_transaction(client, impatient):
    client.get("/limits/")

    assert limit() == "0"


@pytest.mark.postgres
@in_real_transactions
def test_it_can_be_turned_off(client, impatient, settings):
    settings.WEB_STATEMENT_TIMEOUT = 0

    assert client.get("/limits/").content == b"0 0 10s"


@in_real_transactions
def test_a_limited_page_reads_and_writes_as_ever(client, impatient):
    assert client.get("/whole/").content == b"1 ['Mika'] 1"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/admin/jobs/attempt/", "/admin/jobs/call/"])
def test_a_handmade_address_counts_no_facets(viewer, address, django_assert_max_num_queries):
    plain = viewer.get(address)

    with django_assert_max_num_queries(12):
        page = viewer.get(address, {"_facets": "True"})

    assert plain.status_code == page.status_code == 200
    assert b"_facets" not in plain.content
    assert not page.context["cl"].add_facets


def test_no_list_of_the_console_counts_facets():
    never = admin.ShowFacets.NEVER

    assert [each for each in admin.site._registry.values() if each.show_facets != never] == []
