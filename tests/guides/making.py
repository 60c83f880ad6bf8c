"""The form of /guides/new/, as its authors use it in tests."""

import re

import pytest
from django.contrib.auth.models import Permission, User

from guides.models import SpotDetail


def author(name="author"):
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="add_guide"))
    return user


@pytest.fixture
def staff(client):
    client.force_login(author())
    return client


def plan_key(client):
    page = client.get("/guides/new/").content.decode()
    return re.search(r'name="plan_key" value="([^"]+)"', page)[1]


def type_in(client, spots="Gate\nPond", **fields):
    return client.post("/guides/new/", {"title": "Kyoto", "spots": spots, **fields})


def saved():
    return list(SpotDetail.objects.values_list("spot_name", "description"))
