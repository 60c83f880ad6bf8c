"""Guides, spots and pictures for operators. Their actions go through `services`."""

from guides.admin import guides as guides  # registers itself, as do the others
from guides.admin import jobs as jobs
from guides.admin import spots as spots
from guides.admin import topics as topics
from guides.admin import versions as versions
