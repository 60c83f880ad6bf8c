from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "config"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config.doors import noting  # noqa: F401 (registers itself)
