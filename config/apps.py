from django.apps import AppConfig
from django.db.models.signals import post_migrate


class SiteConfig(AppConfig):
    name = "config"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config.doors import noting  # noqa: F401 (registers itself)
        from config.doors.tokens import make_row

        post_migrate.connect(make_row, sender=self)
