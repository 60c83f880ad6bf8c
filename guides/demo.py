"""The guides that `make run` starts with."""

from guides import services
from guides.makers import UNPAINTABLE
from guides.models import Guide, SpotDetail

GUIDES = [
    (
        {
            "plan_id": "kyoto-in-two-days",
            "title": "Kyoto in two days",
            "destination": "Kyoto, Japan",
            "summary": "Gates at dawn, gardens at noon, lanterns at night.",
        },
        [
            ("Fushimi Inari Shrine", "Ten thousand vermilion gates climb the hill.", ["shrine"]),
            ("Kinkaku-ji", "The golden temple, doubled by its pond.", ["temple", "lake"]),
            (
                "Nishiki Market",
                "Pickles, knives and tofu doughnuts under one long roof.",
                ["market"],
            ),
            ("Arashiyama Bamboo Grove", "A green corridor that hums in the wind.", ["garden"]),
            ("Yasaka Pagoda", "Five storeys above the lanes of Higashiyama.", ["pagoda"]),
        ],
    ),
    (
        {
            "plan_id": "hiroshima-to-miyajima",
            "title": "広島から宮島へ",
            "destination": "広島県",
            "summary": "川の街から、海に浮かぶ鳥居まで。",
        },
        [
            ("厳島神社", "満潮の海に浮かぶ朱の大鳥居。", ["神社", "海"]),
            ("広島城", "鯉城と呼ばれる、堀に囲まれた平城。", ["城"]),
            ("弥山", "瀬戸内の島々を見わたす霊山。", ["山"]),
            ("尾道", "坂と猫と、千光寺へのロープウェイ。", ["寺", "港"]),
        ],
    ),
    (
        {
            "plan_id": "lisbon-on-foot",
            "title": "Lisbon on foot",
            "destination": "Lisbon, Portugal",
            "summary": "Seven hills, one river, and a tart on every corner.",
        },
        [
            ("Belém Tower", "The stone ship that guards the Tagus.", ["tower", "harbour"]),
            ("Ponte 25 de Abril", "A red bridge over a silver river.", ["bridge"]),
            ("Castelo de São Jorge", "Peacocks on the walls above the Alfama.", ["castle"]),
            ("Time Out Market", "Forty kitchens under one roof.", ["market"]),
        ],
    ),
    (
        {
            "plan_id": "okinawa-slowly",
            "title": "Okinawa, slowly",
            "destination": "Okinawa, Japan",
            "summary": "Coral, castles, and nothing to hurry for.",
        },
        [
            ("Kondoi Beach", "White sand and water as clear as glass.", ["beach"]),
            ("Shuri Castle", "The red heart of the Ryukyu kingdom.", ["castle"]),
            (
                "The Isle in the Fog",
                "Nobody has ever seen it: take its tag away and requeue it, and it appears.",
                [UNPAINTABLE],
            ),
        ],
    ),
    (
        {
            "plan_id": "alps-by-train",
            "title": "The Alps by train",
            "destination": "Switzerland",
            "summary": "Red carriages, blue lakes, white peaks.",
        },
        [
            ("Matterhorn", "The mountain every other mountain is drawn after.", ["mountain"]),
            ("Landwasser Viaduct", "Six arches, and then straight into the rock.", ["bridge"]),
            ("Lake Lucerne", "Paddle steamers between the peaks.", ["lake"]),
            ("Staubbach Falls", "Three hundred metres of falling mist.", ["waterfall"]),
        ],
    ),
]


def load() -> int:
    """Save the demo guides that are not there yet; returns how many were new."""
    new = 0
    for facts, spots in GUIDES:
        if not Guide.objects.filter(plan_id=facts["plan_id"]).exists():
            services.save_guide(
                Guide(**facts),
                [
                    SpotDetail(spot_name=name, description=text, topic_tags=tags)
                    for name, text, tags in spots
                ],
            )
            new += 1
    return new
