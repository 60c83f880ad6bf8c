"""The words the painter knows: those that name a motif, an hour, a season or a region."""

import re
from collections.abc import Callable
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


# If a text names two motifs equally clearly, the first is painted.
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

# For spots whose words name no motif.
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
# Japanese writes the names of foreign places in katakana alone.
OWN_LETTERS = re.compile(r"[ぁ-ゖ一-鿿]")
EAST_ASIA = re.compile(r"korea|seoul|china|beijing|taiwan|[가-힣]|中国|韓国|台湾")
ELSEWHERE = re.compile(r"中国|北京|上海|台湾|台北|香港|韓国|英国|米国")
ANTIQUE = re.compile(
    r"\b(greece|athens|rome|italy|sicily|egypt|luxor|turkey|jordan|syria|mexico|peru)\b"
    r"|ギリシャ|ローマ|イタリア|エジプト|トルコ|神殿"
)
