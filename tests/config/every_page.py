"""Opens every page of a project's console, in its `manage.py shell`, and prints what fails."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from jobs import queue
from jobs.admin.base import page_of
from jobs.models import Provider, job_models
from jobs.testing import perform_due

Users = get_user_model()
person = Users.objects.filter(is_superuser=True).first() or Users.objects.create_superuser(
    **{Users.USERNAME_FIELD: "anna@example.org", "password": "x"}
)
client = Client(headers={"host": "localhost"}, raise_request_exception=False)
client.force_login(person)
Postcard: Any = next(model for model in job_models() if model.__name__ == "Postcard")
queue.enqueue([Postcard(subject=name) for name in ("Cora", "Dan")])
perform_due(Postcard, 1)
Provider.objects.get_or_create(name="painter")
listed = reverse("admin:postcards_postcard_changelist")
chosen = {ACTION_CHECKBOX_NAME: [str(job.pk) for job in Postcard.objects.all()]}
opened: list[str] = []


def look(address, data=None, **headers):
    ask = client.post if data else client.get
    response = ask(address, data, headers=headers)
    opened.append(address)
    if response.status_code not in (200, 302):
        print(response.status_code, address)
    return response


look("/admin/")
look("/admin/console/")
for model in admin.site._registry:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    look(reverse(name))
    look(reverse(name), **{"X-Renew": "1"})
    for row in model._default_manager.all()[:3]:
        look(page_of(row))
        look(page_of(row).replace("/change/", "/history/"))
look(f"{listed}?created_at_from=2020-01-01&created_at_to=nonsense&q=x&status__exact=queued")
look(f"{reverse('admin:admin_logentry_changelist')}?person=nobody")
for action in ("cancel", "requeue", "reschedule", "remove"):
    look(listed, {"action": action, **chosen})
look(reverse("admin:postcards_postcard_pause"))
look(reverse("admin:postcards_postcard_pause"), {"reason": "a test"})
look(page_of(Postcard.objects.filter(status="queued").first()))
page = look(listed).text
columns = ["Dan", "Hello, ", "column-subject", "column-answer"]
print([text for text in columns if text not in page], len(opened) > 40)
