"""Guides, spots and pictures for operators. Their actions go through `services`."""

from guides.admin import commissions as commissions  # registers itself, as do the others
from guides.admin import guides as guides
from guides.admin import jobs as jobs
from guides.admin import spots as spots
from guides.admin import texts as texts
from guides.admin import topics as topics
from guides.admin import translations as translations
from guides.admin import versions as versions
from guides.admin import weeks as weeks
