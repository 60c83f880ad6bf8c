"""The words the scribe knows, in English and in Japanese, for the fields that guides have."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from guides.scribe import phrasebook
from guides.scribe.brief import Brief

Path = Sequence[str | int]  # of a value in the answer: names of fields, numbers of items


class Sight(NamedTuple):
    """A kind of place: what it may be called, a sentence about it, and its tag."""

    name: str
    sentence: str
    tag: str


SIGHTS = {
    "en": (
        Sight("Old Market", "Pickles, knives and warm bread under one long roof.", "market"),
        Sight("Hill Shrine", "A hundred steps, a red gate, and the whole valley below.", "shrine"),
        Sight("Mirror Pond", "At noon the sky lies in it, cloud by cloud.", "lake"),
        Sight("Castle Walls", "Walk them once around: the town changes at every corner.", "castle"),
        Sight("Moss Garden", "Forty kinds of green, and a bench for each.", "garden"),
        Sight("Lantern Lane", "Nothing by day; at dusk the loveliest street of all.", "old town"),
        Sight("Stone Bridge", "Stand in the middle when the evening train passes.", "bridge"),
        Sight("Clock Tower", "Late by four minutes since anyone can remember.", "tower"),
        Sight("Fishing Harbour", "Boats come in at six, breakfast is at seven.", "harbour"),
        Sight("Cedar Forest", "Trees older than the maps, and a path that hums.", "forest"),
        Sight("White Beach", "Sand as fine as flour, and water as clear as glass.", "beach"),
        Sight("Bath House", "Steam, cedar wood, and no reason to hurry.", "hot spring"),
        Sight("Weavers’ Museum", "Small rooms, patient hands, one loom still at work.", "museum"),
        Sight("Summit Path", "Two hours up; the mountain does the talking.", "mountain"),
        Sight("Twin Falls", "You hear them long before you see them.", "waterfall"),
        Sight("Station Square", "Every journey here begins with a cup of coffee.", "station"),
    ),
    "ja": (
        Sight("朝市", "漬物と刃物と焼きたてのパンが、長い屋根の下に並びます。", "市場"),
        Sight("山の神社", "百段の石段を上ると、朱の鳥居の向こうに谷が開けます。", "神社"),
        Sight("鏡池", "正午には、空が雲ごと水面に降りてきます。", "池"),
        Sight("城跡", "石垣をひとまわりすると、角ごとに町の表情が変わります。", "城"),
        Sight("苔の庭", "四十色の緑と、そのひとつひとつに腰掛けがあります。", "庭園"),
        Sight("提灯小路", "昼は静かな路地、日が暮れると町でいちばん美しい通りです。", "町並み"),
        Sight("石橋", "夕方の列車が通る時刻に、橋の真ん中に立ってみてください。", "橋"),
        Sight("時計塔", "いつからか四分遅れたまま、町の時を刻んでいます。", "塔"),
        Sight("漁港", "船は六時に戻り、朝ごはんは七時に始まります。", "港"),
        Sight("杉の森", "地図よりも古い木々のあいだを、小道が続きます。", "森"),
        Sight("白浜", "粉のように細かな砂と、硝子のように澄んだ水。", "海"),
        Sight("湯屋", "湯気と木の香り。急ぐ理由はどこにもありません。", "温泉"),
        Sight("織物資料館", "小さな部屋で、一台の機が今も動いています。", "博物館"),
        Sight("山頂への道", "登り二時間。あとは山が語ってくれます。", "山"),
        Sight("夫婦滝", "姿が見えるずっと前から、水の音が届きます。", "滝"),
        Sight("駅前広場", "ここの旅は、一杯の珈琲から始まります。", "駅"),
    ),
}
MORE = {
    "en": ("", "Upper ", "Lower ", "New ", "Eastern ", "Western ", "Little ", "Hidden "),
    "ja": ("", "上の", "下の", "新しい", "東の", "西の", "小さな", "隠れた"),
}
SENTENCES = {
    "en": (
        "Come early: {name} is at its quietest before the first buses.",
        "Bring an hour more than you think you need, and shoes you trust.",
        "People here will tell you that autumn is best; they say the same of every season.",
        "Around the corner a small kitchen serves whatever the morning brought.",
        "Stay until the light turns, then walk back slowly.",
        "If it rains, so much the better: {name} was made for umbrellas.",
    ),
    "ja": (
        "朝早くがおすすめです。{name}は最初のバスが着く前がいちばん静かです。",
        "思ったより一時間長く、そして歩きやすい靴で。",
        "土地の人は秋が一番だと言います。どの季節にも、同じことを言います。",
        "角を曲がると、その朝の食材だけを出す小さな食堂があります。",
        "光の色が変わるまで居て、ゆっくり歩いて戻りましょう。",
        "雨ならなおよし。{name}には傘がよく似合います。",
    ),
}
PHRASES = {
    "en": {
        "title": "{place}, slowly",
        "summary": "Gates at dawn, gardens at noon, lanterns at night: {place} on foot.",
        "place": "the old town",
        "heading": "A morning in {place}",
        "tone": "calm",
        "reason": "It fits well into a day in {place}.",
        "event": "A new guide to {place} appeared.",
        "about": "{subject}: a place to arrive at slowly.",
        "author": "The scribe",
        "one": "“{title}”",
        "joint": ", ",
        "week": "This week brought {new}, among them {titles}. "
        "Each is small enough for a weekend, and every spot has its picture or is about to.",
        "before": "The week before brought {before}; this one brings {new}.",
        "topic": "{topic}, at an unhurried pace. Some of these places are best in the first light,"
        " others when the lamps are lit. Choose one, and let it lead you to the next.",
    },
    "ja": {
        "title": "{place}をゆっくり歩く",
        "summary": "夜明けの門、昼の庭、夜の提灯。{place}を歩いて巡ります。",
        "place": "旧市街",
        "heading": "{place}の朝",
        "tone": "穏やか",
        "reason": "{place}の一日に無理なく組み込めます。",
        "event": "{place}の新しいガイドができました。",
        "about": "{subject}は、ゆっくり訪ねたい場所です。",
        "author": "書記",
        "one": "「{title}」",
        "joint": "、",
        "week": "今週は新しいガイドが{new}加わりました。たとえば{titles}です。"
        "どれも週末に歩ける大きさで、スポットには一枚ずつ絵が届きます。",
        "before": "先週の新しいガイドは{before}、今週は{new}です。",
        "topic": "{topic}を、急がずにめぐります。朝の光が似合う場所も、灯りがともる頃の場所も。"
        "まずひとつ選んで、そこから次へ歩いてみてください。",
    },
}
LOOKS = {
    "en": (
        "{title}: start with the first spot, and see where the day goes.",
        "{title} fits into a weekend, with time left for a second coffee.",
        "{title} is best read in the evening, and walked the next morning.",
    ),
    "ja": (
        "{title}は、最初のスポットからゆっくり歩いてみてください。",
        "{title}は、週末にちょうどよい長さです。珈琲をもう一杯飲む時間も残ります。",
        "{title}は、夜に読んで、次の朝に歩くのがおすすめです。",
    ),
}
NUMBERS = {
    "year": 2026, "month": 11, "day": 1, "days": 2, "hours": 2, "minutes": 45, "rating": 4,
    "latitude": 35, "longitude": 135, "weight": 1, "score": 80, "percent": 50, "count": 3,
}  # fmt: skip
COUNTED = {"spots": "スポット|か所|箇所", "days": "日間", "paragraphs": "段落", "tags": "タグ"}
WEEK_NUMBERS = {"new": "new", "before": "new_before"}
TAGS = ("tag", "tags", "topic", "topics", "topic_tags", "interests", "keywords")


class Words:
    """Answers what a field of this name may say. An item keeps its sight in all of its fields."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.phrases = PHRASES[brief.language]
        self.place = self.find_place()

    def find_place(self) -> str:
        named = self.brief.facts.get("destination") or self.brief.subject
        return re.split(r"[,、，(（]", named)[0].strip()[:40] or self.phrases["place"]

    def letter(self) -> str:
        """A short text about what the prompt says."""
        subject = self.brief.subject or self.place
        first = self.phrases["about"].format(subject=subject)
        rest = [self.sentence([n], subject) for n in range(2)]
        return (" " if self.brief.language == "en" else "").join([first, *rest])

    def text(self, path: Path) -> str:
        name = name_of(path)
        if name in TAGS:
            return self.sight(path).tag
        write = FIELDS.get(name, Words.other)
        return write(self, path)

    def phrase(self, name: str) -> str:
        text = self.phrases[name].format(place=self.place)
        return text[:1].upper() + text[1:]

    def of_week(self, sentence: str, path: Path) -> str:
        """A sentence about a week, from the guides and numbers that the prompt names."""
        one, joint = self.phrases["one"], self.phrases["joint"]
        titles = [one.format(title=title[:60]) for title in self.brief.guides]
        number = {key: self.guides(fact) for key, fact in WEEK_NUMBERS.items()}
        title = titles[item_of(path) % len(titles)]
        return sentence.format(titles=joint.join(titles[:3]), title=title, **number)

    def guides(self, fact: str) -> str:
        number = self.brief.facts.get(fact, "0")
        if self.brief.language == "ja":
            return f"{number}件"
        return {"0": "no new guides", "1": "one new guide"}.get(number, f"{number} new guides")

    @property
    def is_week(self) -> bool:
        return "week" in self.brief.facts and bool(self.brief.guides)

    def event(self, path: Path) -> str:
        if not self.is_week:
            return self.phrase("event")
        if name_of(path) == "what_changed":
            return self.of_week(self.phrases["before"], path)
        looks = LOOKS[self.brief.language]
        return self.of_week(looks[item_of(path) % len(looks)], path)

    def summary(self, path: Path) -> str:
        """Of the week or the topic that the request is about; else of the place."""
        topic = self.brief.facts.get("topic")
        if self.is_week:
            return self.of_week(self.phrases["week"], path)
        if not topic or "destination" in self.brief.facts:
            return self.phrase("summary")
        at_start = topic[:1].upper() + topic[1:] if self.brief.language == "en" else topic
        return self.phrases["topic"].format(topic=at_start)

    def other(self, path: Path) -> str:
        """A sentence for a field that the scribe does not know."""
        return self.sentence(path, self.brief.facts.get("spot_name") or self.spot(path))

    def spot(self, path: Path) -> str:
        fact = self.brief.facts.get("spot_name")
        if fact and not item_of(path):
            return fact
        sights = SIGHTS[self.brief.language]
        more = MORE[self.brief.language]
        turn = item_of(path)
        again = more[turn // len(sights) % len(more)]
        name = self.sight(path).name
        is_named = self.brief.language == "en" and self.place != self.phrases["place"]
        return f"{self.place} {again}{name}" if is_named else f"{again}{name}"

    def sight(self, path: Path) -> Sight:
        sights = SIGHTS[self.brief.language]
        return sights[(self.brief.seed + item_of(path)) % len(sights)]

    def description(self, path: Path) -> str:
        if "spot_name" in self.brief.facts:
            return self.story(self.brief.facts["spot_name"])
        return self.sight(path).sentence

    def story(self, name: str) -> str:
        """Two short paragraphs about a spot."""
        turns = range(self.brief.seed % len(SENTENCES["en"]), 100)
        first, second, third = (self.sentence([turn * 5], name) for turn in turns[:3])
        space = " " if self.brief.language == "en" else ""
        told = self.brief.facts.get("angle") or self.sight([]).sentence
        return f"{told}{space}{first}\n\n{second}{space}{third}"

    def sentence(self, path: Path, name: str) -> str:
        sentences = SENTENCES[self.brief.language]
        return sentences[(self.brief.seed + item_of(path)) % len(sentences)].format(name=name)

    def translation(self, path: Path) -> str:
        source = self.brief.facts.get("source") or self.brief.subject or self.place
        return phrasebook.translate(source, self.brief.language, self.pairs())

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The scribe's own words in both of its languages, English first."""
        for english, japanese in zip(SIGHTS["en"], SIGHTS["ja"], strict=True):
            yield from zip(english, japanese, strict=True)
        yield from zip(SENTENCES["en"], SENTENCES["ja"], strict=True)
        for name, english_phrase in PHRASES["en"].items():
            yield english_phrase, PHRASES["ja"][name]

    def number(self, path: Path) -> int:
        return NUMBERS.get(name_of(path), 1) + item_of(path)

    def count(self, path: Path) -> int:
        """How many items a list has: as many as the prompt asks for, else three."""
        name = name_of(path)
        english = rf"\b(\d{{1,3}})\s+{re.escape(name.rstrip('s'))}s?\b" if name else r"(?!)"
        japanese = rf"(\d{{1,3}})\s*(?:つの|個の)?(?:{COUNTED.get(name, '(?!)')})"
        found = re.search(english, self.brief.text) or re.search(japanese, self.brief.text)
        if name == "key_events" and self.brief.guides:
            return min(len(self.brief.guides), 3)
        return int(found[1]) if found else 3


FIELDS: dict[str, Callable[[Words, Path], str]] = {
    "title": lambda words, path: words.brief.facts.get("title") or words.phrase("title"),
    "description": Words.description,
    "angle": lambda words, path: words.sight(path).sentence,
    "paragraph": lambda words, path: words.sentence(path, words.brief.subject or words.place),
    **dict.fromkeys(["name", "spot_name", "spot", "spots"], Words.spot),
    **dict.fromkeys(["translation", "translated", "translated_text"], Words.translation),
    **dict.fromkeys(["language", "lang", "locale"], lambda words, path: words.brief.language),
    **dict.fromkeys(
        ["destination", "place", "city"],
        lambda words, path: words.brief.facts.get("destination") or words.place,
    ),
    **dict.fromkeys(["summary", "summary_text", "lead", "intro", "introduction"], Words.summary),
    **dict.fromkeys(["heading", "headline"], lambda words, path: words.phrase("heading")),
    **dict.fromkeys(
        ["event", "events", "key_events", "changes", "what_changed"],
        Words.event,
    ),
    "tone": lambda words, path: words.phrase("tone"),
    "reason": lambda words, path: words.phrase("reason"),
    "author": lambda words, path: words.phrase("author"),
}


def name_of(path: Path) -> str:
    """The name of the field, or of the list that holds the item."""
    return next((each.lower() for each in reversed(path) if isinstance(each, str)), "")


def item_of(path: Path) -> int:
    return sum(each for each in path if isinstance(each, int))
