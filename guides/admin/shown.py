"""How pictures are shown in the admin."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from guides import images
from guides.models import SpotDetail, SpotImage


@admin.display(description=_("picture"))
def thumbnail(spot: SpotDetail) -> SafeString | str:
    return small_picture(spot.srcset)


def small_picture(srcset: str) -> SafeString | str:
    if not srcset:  # not our picture: the admin fetches no foreign address
        return "–"
    smallest = srcset.split()[0]
    return format_html('<img src="{}" alt="" width="64" height="64" loading="lazy">', smallest)


def srcset_of(version: SpotImage) -> str:
    return images.srcset(images.url_of(version.object_name))
