"""Schedules: declared beside a job, looked at by every worker."""

from jobs.schedules.asked import Refused, change, restore, run_now, switch
from jobs.schedules.declared import Cron, Daily, Every, Hourly, Monthly, Weekly

__all__ = [
    "Cron",
    "Daily",
    "Every",
    "Hourly",
    "Monthly",
    "Refused",
    "Weekly",
    "change",
    "restore",
    "run_now",
    "switch",
]
