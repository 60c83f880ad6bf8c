"""Time zones come from the tzdata package, whatever files the host has."""

import zoneinfo
from datetime import UTC, datetime
from importlib import resources

import pytest

from jobs.schedules import times, zones


@pytest.fixture
def lying_host(tmp_path):
    """A host whose file of Berlin holds the time of Tokyo."""
    tokyo = resources.files("tzdata.zoneinfo").joinpath("Asia/Tokyo").read_bytes()
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Berlin").write_bytes(tokyo)
    zoneinfo.reset_tzpath(to=[tmp_path])
    zoneinfo.ZoneInfo.clear_cache()
    zones._load.cache_clear()
    yield
    zoneinfo.reset_tzpath()
    zoneinfo.ZoneInfo.clear_cache()
    zones._load.cache_clear()


def test_a_host_with_other_time_zone_data_changes_nothing(lying_host):
    noon = datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert zoneinfo.ZoneInfo("Europe/Berlin").utcoffset(noon).total_seconds() == 9 * 3600

    assert zones.load("Europe/Berlin").utcoffset(noon).total_seconds() == 2 * 3600
    next_noon = times.after("0 12 * * *", "Europe/Berlin", datetime(2026, 7, 1, tzinfo=UTC))
    assert next(next_noon) == noon


def test_every_zone_of_the_package_can_be_loaded():
    assert all(zones.load(name).key == name for name in zones.known())
    assert {"UTC", "Asia/Tokyo", "America/Argentina/Ushuaia"} <= zones.known()
