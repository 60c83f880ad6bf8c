from jobs.admin.tasks import TaskJobAdmin as DBTaskResultAdmin

__all__ = ["DBTaskResultAdmin"]
