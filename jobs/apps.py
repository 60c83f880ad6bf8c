from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = _("Queue")
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        super().import_models()
        # These models perform something, so they stand above the layer of `jobs.models`.
        from jobs.llm import models as llm  # noqa: F401
        from jobs.paid.batches import models as batches  # noqa: F401

    def ready(self) -> None:
        from jobs.console.groups import make_groups
        from jobs.models import checks  # noqa: F401 (registers itself)
        from jobs.models.tuning import tune

        post_migrate.connect(tune)
        post_migrate.connect(make_groups)
        if apps.is_installed("django.contrib.admin"):
            from jobs.admin.kinds import register_all

            register_all()
