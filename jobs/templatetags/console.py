"""Filters for the console's pages, so that they write everything as the commands do."""

from django import template

from jobs.console import causes, sentences, shown
from jobs.paid import money

register = template.Library()

register.filter("moment", shown.moment)
register.filter("number", shown.number)
register.filter("money", money.shown)
register.filter("beginning", causes.beginning)
register.filter("told", sentences.told)
