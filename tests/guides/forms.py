"""The admin's form of a guide, as a browser sends it."""

import json

from django.urls import reverse


def form(guide, **changed):
    """The form data that a browser sends from a guide's page."""
    spots = list(guide.spots.all())
    data = {"title": guide.title, "destination": guide.destination, "summary": ""}
    data |= {"spots-TOTAL_FORMS": len(spots), "spots-INITIAL_FORMS": len(spots)}
    for number, spot in enumerate(spots):
        data |= {
            f"spots-{number}-id": spot.id,
            f"spots-{number}-guide": guide.pk,
            f"spots-{number}-position": spot.position,
            f"spots-{number}-spot_name": spot.spot_name,
            f"spots-{number}-description": spot.description,
            f"spots-{number}-topic_tags": json.dumps(spot.topic_tags),
            f"initial-spots-{number}-topic_tags": json.dumps(spot.topic_tags),
        }
    return data | {f"spots-0-{name}": value for name, value in changed.items()}


def save(client, guide, **changed):
    url = reverse("admin:guides_guide_change", args=[guide.pk])
    return client.post(url, form(guide, **changed))
