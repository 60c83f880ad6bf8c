"""What the scribe can translate: the demo guides, and what it wrote itself.

Of any other text it gives a sample that says so, in the language that was asked for.
"""

import re
from collections.abc import Iterable

from guides.languages import JAPANESE, can_be

DEMO = {
    "Kyoto in two days": "京都、二日間",
    "Kyoto, Japan": "京都",
    "Gates at dawn, gardens at noon, lanterns at night.": "夜明けの鳥居、昼の庭、夜の提灯。",
    "Fushimi Inari Shrine": "伏見稲荷大社",
    "Ten thousand vermilion gates climb the hill.": "一万もの朱の鳥居が、山を登っていきます。",
    "Kinkaku-ji": "金閣寺",
    "The golden temple, doubled by its pond.": "池に映って二つになる、金色の寺。",
    "Nishiki Market": "錦市場",
    "Pickles, knives and tofu doughnuts under one long roof.": (
        "漬物、包丁、豆乳ドーナツが、長い屋根の下に並びます。"
    ),
    "Arashiyama Bamboo Grove": "嵐山の竹林",
    "A green corridor that hums in the wind.": "風にさざめく、緑の回廊。",
    "Yasaka Pagoda": "八坂の塔",
    "Five storeys above the lanes of Higashiyama.": "東山の小路の上にそびえる五重塔。",
    "From Hiroshima to Miyajima": "広島から宮島へ",
    "Hiroshima": "広島県",
    "From the city of rivers to the gate that floats on the sea.": (
        "川の街から、海に浮かぶ鳥居まで。"
    ),
    "Itsukushima Shrine": "厳島神社",
    "The great vermilion gate, afloat at high tide.": "満潮の海に浮かぶ朱の大鳥居。",
    "Hiroshima Castle": "広島城",
    "A castle on the plain, called the Carp, with water all around.": (
        "鯉城と呼ばれる、堀に囲まれた平城。"
    ),
    "Mount Misen": "弥山",
    "A sacred mountain with a view of the islands of the Inland Sea.": (
        "瀬戸内の島々を見わたす霊山。"
    ),
    "Onomichi": "尾道",
    "Slopes, cats, and a ropeway to Senkō-ji.": "坂と猫と、千光寺へのロープウェイ。",
    "Lisbon on foot": "リスボンを歩く",
    "Lisbon, Portugal": "ポルトガル、リスボン",
    "Seven hills, one river, and a tart on every corner.": (
        "七つの丘、一本の川、そして角ごとのエッグタルト。"
    ),
    "Belém Tower": "ベレンの塔",
    "The stone ship that guards the Tagus.": "テージョ川を守る、石の船。",
    "Ponte 25 de Abril": "四月二十五日橋",
    "A red bridge over a silver river.": "銀色の川にかかる、赤い橋。",
    "Castelo de São Jorge": "サン・ジョルジェ城",
    "Peacocks on the walls above the Alfama.": "アルファマを見おろす城壁に、孔雀がいます。",
    "Time Out Market": "タイムアウト・マーケット",
    "Forty kitchens under one roof.": "ひとつ屋根の下に、四十の台所。",
    "Okinawa, slowly": "沖縄をゆっくり",
    "Okinawa, Japan": "沖縄",
    "Coral, castles, and nothing to hurry for.": "珊瑚と城、そして急がない時間。",
    "Kondoi Beach": "コンドイ浜",
    "White sand and water as clear as glass.": "白い砂と、硝子のように澄んだ水。",
    "Shuri Castle": "首里城",
    "The red heart of the Ryukyu kingdom.": "琉球王国の、赤い心臓。",
    "The Isle in the Fog": "霧の中の島",
    "Nobody has ever seen it: take its tag away and requeue it, and it appears.": (
        "まだ誰も見たことがありません。タグを外してもう一度並べると、現れます。"
    ),
    "The Alps by train": "列車で行くアルプス",
    "Switzerland": "スイス",
    "Red carriages, blue lakes, white peaks.": "赤い客車、青い湖、白い峰。",
    "Matterhorn": "マッターホルン",
    "The mountain every other mountain is drawn after.": "あらゆる山の絵の手本になった山。",
    "Landwasser Viaduct": "ラントヴァッサー橋",
    "Six arches, and then straight into the rock.": "六つのアーチを渡ると、そのまま岩の中へ。",
    "Lake Lucerne": "ルツェルン湖",
    "Paddle steamers between the peaks.": "峰のあいだを、外輪船が行きます。",
    "Staubbach Falls": "シュタウプバッハの滝",
    "Three hundred metres of falling mist.": "三百メートルを落ちる霧。",
    "Kyoto": "京都",
    "Lisbon": "リスボン",
    "Okinawa": "沖縄",
    "Japan": "日本",
}
GAP = re.compile(r"{\w+}")  # in a sentence of the scribe: the name of a place
SHORT = 40  # characters: a name, rather than a sentence


def translate(text: str, language: str, pairs: Iterable[tuple[str, str]]) -> str:
    """A text in this language: as known, piece by piece, or else a sample that says so."""
    if (JAPANESE.search(text) is not None) == (language == "ja"):
        return text  # nothing to translate
    pairs = [*DEMO.items(), *pairs]
    if language != "ja":
        pairs = [(japanese, english) for english, japanese in pairs]
    tried = (known(text, pairs), placed(text, language, dict(pairs)))
    # A long name in the middle of a sentence can make it one of the other language.
    found = (each for each in tried if each and can_be(each, language))
    return next(found, sample(text, language))


def known(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    """The translation of a whole text, with the name of a place in it as it is."""
    book = dict(pairs)
    if text in book and not GAP.search(text):
        return book[text]
    for mine, yours in book.items():
        if GAP.search(mine):
            start, end = GAP.split(mine, maxsplit=1)
            name = text[len(start) : len(text) - len(end)]
            if name and text.startswith(start) and text.endswith(end):
                return book.get(name, name).join(GAP.split(yours))
    return ""


def placed(text: str, language: str, book: dict[str, str]) -> str:
    """A sight with its place before it: "Lisbon Old Market"."""
    place, _space, _rest = text.partition(" ")
    sight = text.removeprefix(place).strip()
    if language == "ja" and sight in book and place in book:
        return f"{book[place]}の{book[sight]}"
    return ""


def sample(text: str, language: str) -> str:
    """A text that no page takes for a real translation, short enough to be in one language."""
    words = " ".join(text.split())
    if language == "ja":
        if len(words) <= SHORT:
            return f"「{start(words, 8)}」（見本の訳）"
        return (
            f"「{start(words, 12)}」で始まる文章です。"
            "これは見本の訳で、本当の訳は言語モデルが書きます。"
        )
    if len(words) <= SHORT // 2:
        return f"“{start(words, 4)}” (sample translation)"
    return (
        f"A text that begins “{start(words, 4)}”. "
        "This is a sample: a language model writes the real one."
    )


def start(words: str, letters: int) -> str:
    return words if len(words) <= letters else f"{words[:letters]}…"
