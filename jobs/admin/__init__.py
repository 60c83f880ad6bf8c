"""The operators' pages. They write through `jobs.console`, `jobs.queue` and `jobs.paid`."""

from jobs.admin import alerts as alerts  # registers itself, as do the others
from jobs.admin import attempts as attempts
from jobs.admin import batches as batches
from jobs.admin import calls as calls
from jobs.admin import events as events
from jobs.admin import llm as llm
from jobs.admin import people as people
from jobs.admin import processes as processes
from jobs.admin import providers as providers
from jobs.admin import schedules as schedules
from jobs.admin import tasks as tasks
from jobs.admin import workers as workers
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.jobs import JobAdmin

__all__ = ["JobAdmin", "ReadOnlyAdmin"]
