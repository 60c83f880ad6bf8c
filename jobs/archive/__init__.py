"""Retention: what leaves the database, when, and how it is read afterwards.

`leaving` finds what is old enough, `files` knows the format, `archiving` moves history into files,
`reading` shows it again. `answers` and `sweeping` delete what has served its time.
"""
