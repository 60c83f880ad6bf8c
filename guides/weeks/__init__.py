"""The week: its new guides, summed up in every language of the site.

`weekly_summary(week_key)` asks for it: every Monday, after the first guide of a week, and when a
person wants it.
"""
