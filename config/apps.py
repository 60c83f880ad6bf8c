from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SiteConfig(AppConfig):
    name = "config"
    verbose_name = _("Site")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config.doors import noting  # noqa: F401 (registers itself)
