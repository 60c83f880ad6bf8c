"""What operators see of the queue. They ask, `queue` and `providers` move; nothing else writes."""

from jobs.admin import attempts as attempts  # registers itself, as do the others
from jobs.admin import calls as calls
from jobs.admin import providers as providers
from jobs.admin import workers as workers
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.jobs import JobAdmin

__all__ = ["JobAdmin", "ReadOnlyAdmin"]
