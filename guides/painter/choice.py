"""What to paint: the words of a spot choose motif, hour and season."""

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guides.painter.motifs import (
    canals,
    castles,
    country,
    crossings,
    deserts,
    islands,
    lanes,
    mountains,
    museums,
    seaside,
    shrines,
    towers,
    towns,
)
from guides.painter.palettes import PALETTES, Palette
from guides.painter.scene import Scene


@dataclass(frozen=True)
class Motif:
    name: str
    draw: Callable[[Scene], None]
    words: tuple[str, ...]
    palettes: tuple[str, ...]
    orb: str = "side"  # where the sun stands: side, middle, high


def _motif(
    draw: Callable[[Scene], None], english: str, japanese: str, palettes: str, orb: str = "side"
) -> Motif:
    words = (*english.split(), *japanese.split())
    return Motif(draw.__name__, draw, words, tuple(palettes.split()), orb)


# Where two are named as clearly as each other, the first is painted.
MOTIFS = (
    _motif(
        lanes.onsen,
        "onsen hot_spring spa",
        "温泉 湯 露天風呂",
        "winter dusk autumn night",
    ),
    _motif(
        lanes.market,
        "market bazaar souk food kitchen street_food lantern restaurant cafe café dining shopping",
        "市場 横丁 商店街 屋台 夜市 食 グルメ レストラン カフェ 提灯 祭",
        "night dusk sunset",
        "high",
    ),
    _motif(
        shrines.pagoda,
        "pagoda stupa",
        "五重塔 三重塔 仏塔",
        "dawn sunset spring autumn golden woodblock",
    ),
    _motif(
        country.waterfall,
        "waterfall falls cascade",
        "滝 瀑布",
        "morning noon spring autumn dawn",
        "high",
    ),
    _motif(
        shrines.shrine,
        "shrine torii inari jinja",
        "神社 大社 稲荷 鳥居 神宮 八幡宮 天満宮",
        "dawn sunset woodblock mint golden dusk",
        "middle",
    ),
    _motif(
        castles.castle,
        "castle -jo",
        "城 城跡 皇居",
        "spring autumn morning winter woodblock golden",
    ),
    _motif(
        islands.village,
        "santorini oia mykonos greek_island cycladic amalfi cinque positano",
        "サントリーニ",
        "noon morning sunset mint golden",
    ),
    _motif(
        canals.canal,
        "canal venice gondola grand_canal amsterdam bruges",
        "運河 ベネチア ヴェネツィア 水路",
        "golden sunset dawn dusk morning",
        "middle",
    ),
    _motif(
        towers.tower,
        "tower eiffel skytree observatory",
        "タワー スカイツリー 塔 展望台",
        "dusk sunset dawn mint night golden",
    ),
    _motif(
        crossings.bridge,
        "bridge ponte pont brücke",
        "橋 大橋",
        "dawn sunset mint morning dusk golden",
    ),
    _motif(
        museums.museum,
        "museum palace gallery louvre opera theatre theater library parliament",
        "美術館 博物館 宮殿 記念館 図書館 劇場 ルーヴル",
        "dusk golden morning mint dawn sunset",
    ),
    _motif(
        towns.church,
        "church cathedral basilica chapel abbey minster duomo notre sagrada",
        "教会 大聖堂 聖堂 天主堂",
        "dusk golden morning autumn dawn",
    ),
    _motif(
        deserts.desert,
        "desert pyramid ruin dune acropolis parthenon forum colosseum petra",
        "砂漠 砂丘 遺跡 ピラミッド",
        "golden sunset morning dusk",
        "middle",
    ),
    _motif(
        shrines.temple,
        "temple kinkaku ginkaku -ji -dera zen buddha monastery",
        "寺 院 大仏 金閣 銀閣 観音",
        "autumn spring golden dawn morning woodblock",
    ),
    _motif(
        lanes.garden,
        "garden -en botanical",
        "庭 園 庭園",
        "spring autumn morning dawn woodblock",
    ),
    _motif(
        mountains.lake,
        "lake pond lagoon fjord loch",
        "湖 池 潟",
        "morning dawn autumn woodblock noon sunset",
        "middle",
    ),
    _motif(
        crossings.station,
        "station train railway railroad viaduct tram",
        "駅 鉄道 新幹線 列車 電車",
        "morning autumn spring golden noon",
    ),
    _motif(
        seaside.harbour,
        "harbour harbor port lighthouse ship ferry marina wharf cape pier",
        "港 灯台 岬 船 埠頭",
        "morning noon sunset mint dusk",
    ),
    _motif(
        seaside.beach,
        "beach sand island coast coral palm surf snorkel bay sea ocean resort",
        "浜 海 ビーチ 島 海岸 砂浜 湾 サンゴ",
        "noon mint sunset golden morning",
    ),
    _motif(
        country.forest,
        "forest grove bamboo wood jungle rainforest trail redwood",
        "森 竹林 竹 林 杉 原生林 古道",
        "morning spring noon dawn",
        "high",
    ),
    _motif(
        mountains.mountain,
        "mountain mount mt peak alps volcano summit fuji ridge glacier hike",
        "山 岳 富士 峰 峠 火山 高原 アルプス",
        "morning dawn woodblock winter sunset mint",
        "high",
    ),
    _motif(
        country.field,
        "field flower lavender meadow vineyard park farm tulip sakura blossom",
        "畑 花 公園 丘 牧場 桜 ラベンダー",
        "spring morning golden noon autumn",
    ),
    _motif(
        towns.city,
        "city skyline downtown crossing skyscraper shibuya shinjuku manhattan night_view",
        "街 都市 夜景 交差点 渋谷 新宿 ビル",
        "dusk night sunset dawn",
        "high",
    ),
    _motif(
        towns.town,
        "town village street square old_town quarter alley plaza piazza",
        "町 村 通り 広場 集落 宿場 小路",
        "golden morning autumn dusk dawn",
    ),
    _motif(
        castles.fortress,
        "fortress chateau château schloss neuschwanstein castelo alcázar alcazar kremlin",
        "",
        "autumn morning dawn dusk golden spring",
    ),
)
BY_NAME = {motif.name: motif for motif in MOTIFS}

# For spots whose words say nothing.
ANYWHERE = ("mountain", "lake", "town", "field", "city", "harbour", "forest", "beach")
ANYWHERE_IN_JAPAN = ("mountain", "lake", "garden", "pagoda", "town", "forest")

SEASONS = (
    ("night", "night midnight moonlight stars 夜 名月 星空"),
    ("sunset", "sunset evening 夕 夕日 夕陽"),
    ("dawn", "dawn sunrise 朝日 日の出 朝焼け"),
    ("spring", "springtime cherry sakura blossom 桜 春 梅"),
    ("autumn", "autumn fall_colours maple 紅葉 秋"),
    ("winter", "winter snow ski 雪 冬 氷"),
)
IN_JAPAN = re.compile(
    r"\b(japan|tokyo|kyoto|osaka|nara|okinawa|hokkaido|hiroshima|kanazawa|himeji|nikko|hakone"
    r"|nagasaki|kamakura|sapporo|kyushu|shikoku|fuji)\b|日本|\w-(ji|jo|en|dera|taisha|jinja)\b"
)
# Katakana alone is how Japanese writes places elsewhere.
OWN_LETTERS = re.compile(r"[ぁ-ゖ一-鿿]")
EAST_ASIA = re.compile(r"korea|seoul|china|beijing|taiwan|[가-힣]|中国|韓国|台湾")
ELSEWHERE = re.compile(r"中国|北京|上海|台湾|台北|香港|韓国|英国|米国")
ANTIQUE = re.compile(
    r"\b(greece|athens|rome|italy|sicily|egypt|luxor|turkey|jordan|syria|mexico|peru)\b"
    r"|ギリシャ|ローマ|イタリア|エジプト|トルコ|神殿"
)


def joined(*parts: str | Sequence[str]) -> str:
    """All words of a spot in small letters."""
    flat = [part if isinstance(part, str) else " ".join(part) for part in parts]
    return unicodedata.normalize("NFKC", " ".join(flat)[:4000]).lower()


def is_japan(name: str, description: str, place: str) -> bool:
    """Where the spot is, by its place, else by its own words."""
    where = joined(place) or joined(name, description)
    own = OWN_LETTERS.search(where) and not ELSEWHERE.search(where)
    return bool(own or IN_JAPAN.search(where))


def _mentions(text: str, word: str) -> re.Match[str] | None:
    """Latin words count whole, with or without a plural s; Japanese ones anywhere."""
    if ord(word[0]) >= 0x250:
        return re.search(rf"{word}(?![ぁ-鿿])", text) or re.search(word, text)
    before = r"\w" if word.startswith("-") else r"(?<!\w)"
    pattern = rf"{before}{word.replace('_', ' ')}s?\b"
    return re.search(rf"{pattern}$", text) or re.search(pattern, text)


def choose(
    name: str, description: str, tags: Sequence[str], place: str, chance: random.Random
) -> Motif:
    """The name speaks first, then the tags, then the description; else chance."""
    in_japan = is_japan(name, description, place)
    for text in (joined(name), joined(tags), joined(description)):
        found = _match(text)
        if found:
            return _suited(found, joined(name, place), in_japan)
    return BY_NAME[chance.choice(ANYWHERE_IN_JAPAN if in_japan else ANYWHERE)]


def _match(text: str) -> Motif | None:
    """The motif that the text names most clearly; of equals, the first."""
    best, clearest = None, 0
    for motif in MOTIFS:
        for word in motif.words:
            found = _mentions(text, word)
            if found and (clear := _clarity(text, word, found)) > clearest:
                best, clearest = motif, clear
    return best


def _clarity(text: str, word: str, found: re.Match[str]) -> int:
    """Longer words say more; the last word says what it is: Tower Bridge, 橋本駅."""
    japanese = ord(word[0]) >= 0x250
    last = not OWN_LETTERS.match(text[found.end() :]) if japanese else found.end() == len(text)
    return len(word) * (3 if japanese else 1) + (4 if last else 0)


def _suited(motif: Motif, text: str, in_japan: bool) -> Motif:
    """The same word is another shape elsewhere."""
    if motif.name == "castle" and not in_japan and not EAST_ASIA.search(text):
        return BY_NAME["fortress"]
    if motif.name == "temple" and ANTIQUE.search(text):
        return BY_NAME["desert"]
    return motif


def choose_palette(
    motif: Motif, name: str, description: str, tags: Sequence[str], style: str,
    chance: random.Random,
) -> Palette:  # fmt: skip
    """A style or a word about hour or season decides; else one that suits the motif."""
    chosen = chance.choice(motif.palettes)
    if style in PALETTES:
        return PALETTES[style]
    text = joined(name, description, tags)
    for palette, words in SEASONS:
        if any(_mentions(text, word) for word in words.split()):
            return PALETTES[palette]
    return PALETTES[chosen]


def place_orb(motif: Motif, chance: random.Random) -> tuple[tuple[float, float], float]:
    """Where sun or moon stands, and how large."""
    side = chance.choice((-1, 1))
    radius = chance.uniform(44, 66)
    if motif.orb == "middle":
        return (512 + side * chance.uniform(0, 90), chance.uniform(300, 400)), radius * 1.5
    if motif.orb == "high":
        return (512 + side * chance.uniform(190, 330), chance.uniform(150, 200)), radius * 0.85
    return (512 + side * chance.uniform(260, 350), chance.uniform(170, 260)), radius
