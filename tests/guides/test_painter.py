"""The painter's posters: always the same for a spot, different for different ones."""

import hashlib
import io
import os
import random
import subprocess
import sys

import pytest
from PIL import Image

from guides.painter import choice, lettering, paint, poster, vocabulary
from guides.painter.palettes import PALETTES

SPOTS = [
    ("金閣寺", "京都市"),
    ("東京タワー", "東京都"),
    ("姫路城", "姫路市"),
    ("富士山", "静岡県"),
    ("Nishiki Market 錦市場", "Kyoto, Japan"),
    ("Golden Gate Bridge", "San Francisco"),
    ("Santorini", "Greece"),
    ("Louvre Museum", "Paris, France"),
]


def opened(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png), formats=["PNG"])
    image.load()
    return image


def painted_elsewhere(name: str, place: str, hash_seed: str) -> str:
    """The digest of the same poster, made by another process."""
    code = (
        "import hashlib, sys; from guides.painter import paint;"
        "print(hashlib.sha256(paint(sys.argv[1], place=sys.argv[2])).hexdigest())"
    )
    return subprocess.run(
        [sys.executable, "-c", code, name, place],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()


def test_a_poster_is_a_square_png_in_colour():
    image = opened(paint("Golden Gate Bridge", place="San Francisco"))

    assert (image.format, image.size, image.mode) == ("PNG", (1024, 1024), "RGB")
    assert image.info == {}


@pytest.mark.long
def test_the_same_spot_looks_the_same_in_every_process():
    here = hashlib.sha256(paint("金閣寺", place="京都市")).hexdigest()

    assert {painted_elsewhere("金閣寺", "京都市", seed) for seed in ("0", "4711")} == {here}


@pytest.mark.usefixtures("coarse")
def test_painting_others_in_between_changes_nothing():
    before = paint("富士山")
    random.seed(1)
    paint("草津温泉")

    assert paint("富士山") == before


@pytest.mark.usefixtures("coarse")
def test_different_spots_look_different():
    assert len({paint(name, place=place) for name, place in SPOTS}) == len(SPOTS)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("changed", [{"description": "x"}, {"tags": ["x"]}, {"place": "x"}])
def test_every_word_about_a_spot_counts(changed):
    assert paint("Somewhere", **changed) != paint("Somewhere")


@pytest.mark.usefixtures("coarse")
def test_a_style_chooses_the_hour():
    assert paint("Somewhere", style="night") != paint("Somewhere", style="dawn")


@pytest.mark.few(6)
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("motif", vocabulary.MOTIFS, ids=lambda motif: motif.name)
def test_every_motif_can_be_painted(motif):
    spot = motif.words[0].replace("_", " ").replace("-", "Kinkaku-")

    painting = opened(paint(f"The {spot}", place="Kyoto, Japan"))

    # An empty poster would have very few colours.
    assert len(set(painting.resize((64, 64)).get_flattened_data())) > 200


@pytest.mark.few(8)
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "x" * 10_000,
        "寺" * 10_000,
        "word " * 2_000,
        "a\x00b",
        "\x00",
        "\ud800 lone surrogate",
        "quote ' and \" and `",
        "<script>alert(1)</script>",
        "🗼🗻",
        "Tower 🗼",
        "برج خليفة",
        "מגדל דוד",
        "\u202eright to left",
        "../../etc/passwd",
        "two\nlines\tand\r\ntabs",
        "e\u0301 combining \u0301\u0301\u0301\u0301",
        "ﷺ ﬁ ㍿",
        "?!…—",
        "서울 경복궁",
        "长城",
        "Москва",
        "Ἀθῆναι",
        "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    ],
    ids=lambda name: ascii(name[:16]),
)
def test_any_name_gets_a_poster(name):
    image = opened(paint(name, name, [name], name))

    assert image.size == (1024, 1024)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Tower 🗼", "Tower"),
        ("a\x00b\u202ec", "abc"),
        ("two\n  lines", "two lines"),
        ("برج", ""),
        ("🗼!", ""),
        ("が", "が"),
        ("東京タワー", "東京タワー"),
    ],
)
def test_letters_that_cannot_be_drawn_are_left_out(written, read):
    assert lettering.clean(written) == read


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Kinkaku-ji 金閣寺", ("Kinkaku-ji", "金閣寺")),
        ("金閣寺（Kinkaku-ji）", ("金閣寺", "Kinkaku-ji")),
        ("東京タワー", ("東京タワー", "")),
        ("Eiffel Tower", ("Eiffel Tower", "")),
        ("21世紀美術館", ("21世紀美術館", "")),
        ("JR大阪駅", ("JR大阪駅", "")),
        ("Tokyo 東京 Tower", ("Tokyo 東京 Tower", "")),
    ],
)
def test_a_name_in_two_languages_is_set_on_two_lines(name, parts):
    assert lettering.two_languages(name) == parts


@pytest.mark.parametrize(
    "name", ["A", "兼六園", "Golden Gate Bridge", "x" * 300, "国宝" * 90, "of a " * 80]
)
def test_the_title_stays_inside_its_margins(name):
    title = poster.make_title(name, "Somewhere " * 30)

    assert title is not None
    lines = [*title.lines, title.place]
    assert max(lettering.width(line.text, line.size, line.spacing) for line in lines) <= poster.ROOM
    assert len(title.lines) <= 3


def test_a_name_too_long_to_be_read_ends_in_an_ellipsis():
    assert lettering.fit("word " * 60, poster.ROOM)[-1].text.endswith("…")


def test_without_a_name_the_place_is_the_title():
    title = poster.make_title("🗼", "Paris")

    assert title is not None
    assert [line.text for line in title.lines] == ["PARIS"]
    assert title.place is None


@pytest.mark.parametrize(
    ("name", "place", "motif"),
    [
        ("清水寺", "京都市", "temple"),
        ("Kinkaku-ji", "Kyoto, Japan", "temple"),
        ("Temple of Poseidon", "Greece", "desert"),
        ("伏見稲荷大社", "京都市", "shrine"),
        ("Meiji Shrine", "Tokyo", "shrine"),
        ("八坂の塔", "京都市", "tower"),
        ("Yasaka Pagoda", "Kyoto", "pagoda"),
        ("姫路城", "姫路市", "castle"),
        ("Himeji Castle", "Japan", "castle"),
        ("Neuschwanstein Castle", "Germany", "fortress"),
        ("東京タワー", "東京都", "tower"),
        ("Eiffel Tower", "Paris", "tower"),
        ("Tower Bridge", "London", "bridge"),
        ("瀬戸大橋", "香川県", "bridge"),
        ("橋本駅", "神奈川県", "station"),
        ("由比ヶ浜", "鎌倉市", "beach"),
        ("Kondoi Beach", "Okinawa", "beach"),
        ("富士山", "静岡県", "mountain"),
        ("Mount Cook", "New Zealand", "mountain"),
        ("錦市場", "京都市", "market"),
        ("Borough Market", "London", "market"),
        ("兼六園", "金沢市", "garden"),
        ("Kenroku-en", "Kanazawa", "garden"),
        ("芦ノ湖", "箱根町", "lake"),
        ("Lake Bled", "Slovenia", "lake"),
        ("那智の滝", "和歌山県", "waterfall"),
        ("Niagara Falls", "Canada", "waterfall"),
        ("草津温泉", "群馬県", "onsen"),
        ("根津美術館", "東京都", "museum"),
        ("British Museum", "London", "museum"),
        ("Cologne Cathedral", "Germany", "church"),
        ("横浜港", "横浜市", "harbour"),
        ("Arashiyama Bamboo Grove", "Kyoto", "forest"),
        ("Venice Grand Canal", "Italy", "canal"),
        ("Santorini", "Greece", "village"),
        ("渋谷スクランブル交差点", "東京都", "city"),
        ("Pyramids of Giza", "Egypt", "desert"),
    ],
)
def test_the_name_chooses_what_is_painted(name, place, motif):
    assert choice.choose(name, "", (), place, random.Random(0)).name == motif


def test_the_name_speaks_before_tags_and_tags_before_the_description():
    def painted(name, tags, description):
        return choice.choose(name, description, tags, "", random.Random(0)).name

    assert painted("Old Bridge", ["beach"], "a castle") == "bridge"
    assert painted("Somewhere", ["beach"], "a castle") == "beach"
    assert painted("Somewhere", [], "a castle") == "fortress"


@pytest.mark.parametrize(
    ("words", "palette"),
    [("夜の東京タワー", "night"), ("Tower in the snow", "winter"), ("桜の名所", "spring")],
)
def test_words_about_hour_and_season_choose_the_colours(words, palette):
    tower = vocabulary.BY_NAME["tower"]

    assert choice.choose_palette(tower, words, "", (), "", random.Random(0)).name == palette


def test_the_letters_of_a_title_differ_from_what_is_behind_them():
    for colors in PALETTES.values():
        for layout in ("paper", "block", "sky"):
            text, field = poster.title_colors(colors, layout)
            assert abs(poster.lightness(text) - poster.lightness(field)) > 0.3
