"""Files on their way to a service and back."""

import pytest

from jobs.errors import ProviderUnavailable
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY


def test_a_file_that_breaks_off_does_not_appear(vendor, batches, made, tmp_path):
    vendor.instead["download"] = [answers.half]
    before = set(tmp_path.iterdir())

    with pytest.raises(ProviderUnavailable):
        batches.download("files/1", tmp_path / "results", 20)

    assert set(tmp_path.iterdir()) == before


def test_a_file_larger_than_allowed_is_not_saved(vendor, batches, tmp_path, monkeypatch):
    from jobs.paid.clients import http

    saving = http.saving
    monkeypatch.setattr(http, "saving", lambda to: saving(to, most_bytes=1000))
    vendor.instead["download"] = [answers.long(100_000, announced=False)]

    with pytest.raises(ProviderUnavailable, match="more than the 1000 bytes"):
        batches.download("files/1", tmp_path / "results", 20)

    assert list(tmp_path.iterdir()) == []


def test_a_file_may_be_larger_than_an_answer(vendor, batches, tmp_path, is_gemini):
    client = type(batches.client)(KEY, vendor.base_url, most_bytes=1000)
    vendor.results["large"] = b"x" * 100_000

    type(batches)(client).download("files/large" if is_gemini else "large", tmp_path / "file", 20)

    assert (tmp_path / "file").stat().st_size == 100_000


def test_a_slow_upload_is_cut_off(vendor, batches, made, tmp_path):
    made("a castle")
    vendor.instead = {"upload": answers.hang}

    with pytest.raises(ProviderUnavailable, match="no answer within"):
        batches.upload(tmp_path / "lines.jsonl", "token-1", 0.5)


def test_a_slow_download_is_cut_off(vendor, batches, tmp_path):
    vendor.instead = {"download": answers.drip}

    with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.5 s"):
        batches.download("files/1", tmp_path / "results", 0.5)

    assert list(tmp_path.iterdir()) == []
