from django.apps import AppConfig, apps
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = _("Queue")
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        super().import_models()
        # These models perform something, so they stand above the layer of `jobs.models`.
        from jobs.alerts import models as alerts  # noqa: F401
        from jobs.archive import models as archive  # noqa: F401
        from jobs.events import models as events  # noqa: F401
        from jobs.llm import models as llm  # noqa: F401
        from jobs.paid.batches import models as batches  # noqa: F401
        from jobs.tasks import models as tasks  # noqa: F401

    def ready(self) -> None:
        from jobs.console.groups import make_groups
        from jobs.db import checks as database_checks  # noqa: F401 (registers itself)
        from jobs.db import failover, moments
        from jobs.models import checks  # noqa: F401 (registers itself)
        from jobs.models.tuning import tune
        from jobs.schedules import checks as schedule_checks  # noqa: F401 (registers itself)
        from jobs.schedules.declaring import declare

        connection_created.connect(failover.prepare)
        connection_created.connect(moments.prepare)
        post_migrate.connect(tune)
        post_migrate.connect(declare)
        post_migrate.connect(make_groups)
        # Handlers of events, and tasks: they register themselves.
        autodiscover_modules("handlers", "tasks")
        if apps.is_installed("django.contrib.admin"):
            self.open_console()

    def open_console(self) -> None:
        from django.contrib.admin import site

        from jobs.admin import checks, dashboard, kinds  # noqa: F401 (checks register themselves)
        from jobs.console import audit, former_users  # noqa: F401 (registers itself)

        post_migrate.connect(audit.index_log)
        kinds.register_all()
        dashboard.install(site)
