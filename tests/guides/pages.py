"""Guides to look at, and the addresses their pages poll."""

import re

from django.db.models.functions import Now
from django.template.loader import render_to_string

from guides import services
from guides.models import Guide, SpotDetail, SpotImageJob

HASH = "ab" * 32
OURS = f"/pictures/{HASH}/1024.webp"


def new_guide(*names, plan_id="kyoto", **facts):
    guide = Guide(plan_id=plan_id, title="Kyoto", destination="Japan", **facts)
    return services.save_guide(guide, [SpotDetail(spot_name=name) for name in names])


def change(spot_name, **columns):
    SpotDetail.objects.filter(spot_name=spot_name).update(**columns)


def spot(name):
    return SpotDetail.objects.with_jobs().get(spot_name=name)


def drawn(name):
    """The fragment of one spot."""
    return render_to_string("guides/spot_image.html", {"spot": spot(name)})


def poll_address(html):
    """The address the page polls, or None when it does not poll."""
    address = re.search(r'hx-get="([^"]*/images/[^"]*)" hx-trigger="live"', html)
    return address and address[1].replace("&amp;", "&")


def home_address(html):
    """The address home polls, or None."""
    address = re.search(r'hx-get="(/cards/[^"]*)" hx-trigger="live"', html)
    return address and address[1].replace("&amp;", "&")


def finish(name):
    """Give the spot its final picture."""
    SpotImageJob.objects.filter(spot_name=name).update(status="succeeded", finished_at=Now())
    change(name, image_url=OURS, image_status="succeeded")
