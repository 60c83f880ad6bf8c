from django.apps import AppConfig

from bench.remote import Remote
from guides.makers import MAKERS


class BenchConfig(AppConfig):
    name = "bench"

    def ready(self) -> None:
        MAKERS["remote"] = Remote
