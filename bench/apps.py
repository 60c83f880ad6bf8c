from django.apps import AppConfig

from bench.remote import Remote
from guides.providers import PROVIDERS


class BenchConfig(AppConfig):
    name = "bench"

    def ready(self) -> None:
        PROVIDERS["remote"] = Remote
