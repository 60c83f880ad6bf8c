from datetime import timedelta

import pytest

from jobs.metrics import scraping

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """A busy machine is no fault: only locks end a reading early."""
    monkeypatch.setattr(scraping, "LONGEST", 60)
    monkeypatch.setattr(scraping, "PATIENCE", scraping.PATIENCE._replace(statements=MINUTE))
