"""From a request to stored files; a provider's picture is not trusted."""

import io
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from PIL import Image

from guides import decoder, images, makers
from guides.images import BadPicture
from guides.models import SpotDetail
from tests.jobs.processes import wait_until

pytestmark = pytest.mark.django_db


def png(width=1024, height=1024, mode="RGB", **options):
    content = io.BytesIO()
    Image.new(mode, (width, height)).save(content, options.pop("format", "PNG"), **options)
    return content.getvalue()


def step(name):
    return nullcontext()


def stored(pictures, name):
    with pictures.open(name) as file:
        return file.read()


def make(spot, raw=None):
    request = images.request_for(spot)
    raw = raw or makers.chosen().draw(request, timeout=25).raw
    return images.from_answer(request, raw, step)


def test_the_painter_draws_what_passes_the_check(spot):
    request = images.request_for(spot)

    answer = makers.chosen().draw(request, timeout=25)

    made = images.decode(answer.raw)
    assert (made["width"], made["height"]) == (request.size, request.size)


def test_a_picture_is_stored_in_three_widths_under_its_contents_name(spot, pictures):
    picture = make(spot)

    assert picture.object_name.startswith("pictures/")
    for width in (480, 960, 1024):
        with pictures.open(f"{picture.object_name}/{width}.webp") as file:
            image = Image.open(file)
            assert (image.format, image.width) == ("WEBP", width)


def test_the_same_spot_gives_the_same_files(spot, pictures):
    assert make(spot) == make(spot)
    assert len(pictures.listdir("pictures")[0]) == 1


# Made when their test runs, not when the file is imported: every process of a run imports it.
BAD = {
    "nothing": lambda: b"",
    "HTML": lambda: b"<html>502 Bad Gateway</html>",
    "half a PNG": lambda: png()[:-400],
    "half a JPEG": lambda: png(format="JPEG")[:700],
    "a GIF": lambda: png(format="GIF", mode="L"),
    "a bomb": lambda: png(30_000, 30_000, mode="1"),
    "more pixels than any service sells": lambda: png(6_400, 6_400, mode="L"),
    "higher than a WebP can be": lambda: png(100, 17_000),
    "a line that fills the memory": lambda: png(1, 16_000_000),
    "an SVG with a script": lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
}


@pytest.mark.few(5)
@pytest.mark.parametrize("draw", BAD.values(), ids=BAD.keys())
def test_what_is_no_picture_is_refused(draw):
    raw = draw()

    with pytest.raises(BadPicture):
        images.decode(raw)


def test_too_many_bytes_are_refused_before_they_are_opened(monkeypatch):
    monkeypatch.setattr(images, "MOST_BYTES", 10)

    with pytest.raises(BadPicture, match="10 are the most"):
        images.decode(png())


# The decoder, with a tenth of its time.
HASTY = """
import sys
sys.path.insert(0, {folder!r})
import decoder
decoder.CPU_SECONDS = 1
decoder.main()
"""


def scans_repeated(times):
    """A small JPEG that repeats its last scan: each repetition is a pass over all pixels."""
    whole = png(2048, 2048, mode="L", format="JPEG", progressive=True)
    start = whole.rindex(b"\xff\xda")
    return whole[:-2] + whole[start:-2] * times + whole[-2:]


def test_a_picture_that_takes_too_long_is_refused_and_the_worker_lives_on(monkeypatch, tmp_path):
    raw = scans_repeated(60_000)
    assert len(raw) < 2_000_000
    hasty = tmp_path / "hasty.py"
    hasty.write_text(HASTY.format(folder=os.path.dirname(decoder.__file__)))
    monkeypatch.setattr(decoder, "__file__", str(hasty))

    with pytest.raises(BadPicture, match="SIGXCPU"):
        images.decode(raw)


def test_a_picture_of_a_few_scans_is_a_picture():
    assert images.decode(scans_repeated(3))["width"] == 2048


@pytest.mark.parametrize("code", [1, -9], ids=["broken", "killed by the system"])
def test_a_decoder_that_ends_by_no_fault_of_the_picture_is_no_garbage(monkeypatch, code):
    """A bad picture is bought again, which would not help here."""
    command = [sys.executable, "-c", f"import os; os.kill(0, 9) if {code} < 0 else exit({code})"]
    run = subprocess.run

    def broken(_, **options):
        return run(command, start_new_session=True, **options)

    monkeypatch.setattr(subprocess, "run", broken)

    with pytest.raises(RuntimeError, match=f"ended with {code}"):
        images.decode(png())


def test_no_more_than_two_are_decoded_at_once(monkeypatch):
    begun, goes_on = [], threading.Event()

    def run(*command, **options):
        begun.append(command)
        goes_on.wait(60)
        raise ZeroDivisionError

    monkeypatch.setattr(subprocess, "run", run)
    with ThreadPoolExecutor(8) as pool:
        decoding = [pool.submit(images.decode, b"picture") for _ in range(8)]
        wait_until(lambda: len(images.DECODERS._cond._waiters) == 6)
        at_once = len(begun)
        goes_on.set()
        for done in decoding:
            assert isinstance(done.exception(), ZeroDivisionError)

    assert (at_once, len(begun)) == (2, 8)


def test_a_decoder_learns_no_secret_of_the_worker(monkeypatch):
    asked = []
    monkeypatch.setattr(subprocess, "run", lambda *_, **options: asked.append(options) or 1 / 0)

    with pytest.raises(ZeroDivisionError):
        images.decode(png())

    assert asked[0]["env"] == {}


def test_everything_but_the_pixels_is_stripped(spot, pictures):
    exif = Image.Exif()
    exif[0x010E] = "secret place"

    picture = make(spot, png(format="JPEG", exif=exif) + b"<script>trailing</script>")

    content = stored(pictures, f"{picture.object_name}/1024.webp")
    assert b"secret" not in content
    assert b"script" not in content


def test_transparent_pictures_are_set_on_white():
    image = decoder.flat(decoder.decoded(png(4, 4, mode="RGBA")))

    assert (image.mode, image.getpixel((0, 0))) == ("RGB", (255, 255, 255))


def test_the_blurred_preview_is_small(spot, pictures):
    picture = make(spot)

    assert picture.blur.startswith("data:image/webp;base64,")
    assert len(picture.blur) < 1500


def test_the_hash_follows_what_decides_about_the_picture(spot):
    before = images.request_for(spot).payload_hash
    assert images.request_for(spot).payload_hash == before

    assert images.request_for(spot, generation=1).payload_hash != before
    spot.description = "golden"
    assert images.request_for(spot).payload_hash != before


def test_the_order_of_tags_does_not_change_the_hash(guide):
    one = SpotDetail.objects.create(guide=guide, spot_name="a", topic_tags=["x", "y"])
    before = images.request_for(one).payload_hash

    one.topic_tags = ["y", " x"]
    one.save()

    assert images.request_for(one).payload_hash == before


def test_only_our_own_pictures_have_a_srcset():
    ours = "/pictures/" + "ab" * 32 + "/1024.webp"

    assert images.srcset(ours).count("webp") == 3
    assert images.srcset("https://example.org/a.jpg") == ""


def test_an_unknown_provider_is_named(settings):
    settings.IMAGE_PROVIDER = "picasso"

    with pytest.raises(ImproperlyConfigured, match="picasso: known are painter"):
        makers.chosen()


def test_the_command_makes_a_picture_and_says_where(spot, pictures, capsys):
    call_command("makeimage", "kyoto", "Kinkaku-ji")

    output = capsys.readouterr()
    assert pictures.exists(output.out.strip().lstrip("/"))
    assert "generate:" in output.err


def test_the_command_names_the_spots_there_are(spot):
    with pytest.raises(CommandError, match=r"'Ginkaku-ji'.*It has: Kinkaku-ji"):
        call_command("makeimage", "kyoto", "Ginkaku-ji")
