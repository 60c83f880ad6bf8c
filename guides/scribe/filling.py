"""Values for a JSON Schema: sensible where the name of a field is known, and always valid."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for

from guides.scribe import numbers, strings
from guides.scribe.schemas import REFS, TYPES, Flat, Impossible, Root, listed
from guides.scribe.words import Words
from jobs.errors import BadRequest

DEEPEST = 12  # levels of an answer; below, only what is required is filled in
LEVELS = 10  # that may be required below
MOST_STEPS = 20_000
MANY_STEPS = 2_000  # from here on, only what is required is filled in
MOST_ITEMS = 2_000
MARKS = {
    "object": {"properties", "required", "additionalProperties", "patternProperties",
               "minProperties", "maxProperties", "propertyNames"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}  # fmt: skip


def fill(schema: Any, words: Words) -> Any:
    """A value that fits the schema; raises BadRequest if the scribe finds none."""
    try:
        return Filler(schema, words).fill(schema, Place())
    except SchemaError as fault:
        raise BadRequest(f"This is no JSON Schema: {fault.message}") from None
    except (Impossible, RecursionError) as fault:
        raise BadRequest(f"The scribe finds no value that fits the schema. {fault}") from None


@dataclass(frozen=True)
class Place:
    """Where in the answer a value stands."""

    path: tuple[str | int, ...] = ()
    refs: frozenset[str] = frozenset()  # that were followed on the way
    room: int | None = None  # levels left where only the required is filled in; None: no need

    def under(self, step: str | int, refs: frozenset[str]) -> "Place":
        room = None if self.room is None else self.room - 1
        return Place((*self.path, step), self.refs | refs, room)

    @property
    def is_lean(self) -> bool:
        return self.room is not None

    def __str__(self) -> str:
        return "$" + "".join(f"[{each!r}]" for each in self.path)


class Filler:
    def __init__(self, schema: Any, words: Words) -> None:
        self.root = Root(schema)
        self.words = words
        dialect = validator_for(schema, default=Draft202012Validator)
        dialect.check_schema(schema)
        self.checker = dialect(schema)
        self.steps = 0

    def fits(self, schema: Any, value: Any) -> bool:
        return bool(self.checker.evolve(schema=schema).is_valid(value))

    def fill(self, schema: Any, place: Place, taken: Sequence[Any] = ()) -> Any:
        """A value for this place that is none of the taken ones."""
        self.steps += 1
        if self.steps > MOST_STEPS or place.room == 0:
            raise Impossible(f"It goes too deep at {place}.")
        options = list(self.root.options(schema))
        if not place.is_lean and self.must_end(options, place):
            return self.fill_lean(schema, place, taken)
        seen = {identity(each) for each in taken}
        for flat in options:
            for value in self.values(flat, place):
                if identity(value) not in seen and self.fits(schema, value):
                    return value
        raise Impossible(f"Nothing fits at {place}.")

    def must_end(self, options: list[Flat], place: Place) -> bool:
        is_circle = any(flat[REFS] & place.refs for flat in options)
        return is_circle or len(place.path) > DEEPEST or self.steps > MANY_STEPS

    def fill_lean(self, schema: Any, place: Place, taken: Sequence[Any]) -> Any:
        """Fill in as few levels as possible, so that a recursive schema comes to its end."""
        for room in range(1, LEVELS):
            try:
                return self.fill(schema, replace(place, room=room), taken)
            except Impossible:
                if self.steps > MOST_STEPS:
                    raise
        raise Impossible(f"It does not end at {place}.")

    def values(self, flat: Flat, place: Place) -> Iterator[Any]:
        """Values that may fit, the best first."""
        if "enum" in flat:
            yield from self.choices(flat["enum"], place)
            return
        if "default" in flat:
            yield flat["default"]
        for kind in types_of(flat):
            with suppress(Impossible):  # another type, or another option, may do
                yield from getattr(self, f"{kind}s")(flat, place)

    def choices(self, values: list[Any], place: Place) -> Iterator[Any]:
        """All of them, beginning with the one that says what the scribe would have said."""
        if not values:
            return
        wanted = self.words.text(place.path)
        start = self.words.number(place.path) + self.words.brief.seed
        if wanted in values:
            start = values.index(wanted)
        for n in range(len(values)):
            yield values[(start + n) % len(values)]

    def strings(self, flat: Flat, place: Place) -> Iterator[str]:
        return strings.candidates(flat, self.words.text(place.path))

    def integers(self, flat: Flat, place: Place) -> Iterator[float]:
        return numbers.candidates(flat, self.words.number(place.path), is_whole=True)

    def numbers(self, flat: Flat, place: Place) -> Iterator[float]:
        return numbers.candidates(flat, self.words.number(place.path))

    def booleans(self, flat: Flat, place: Place) -> Iterator[bool]:
        yield from (True, False)

    def nulls(self, flat: Flat, place: Place) -> Iterator[None]:
        yield None

    # Lists

    def arrays(self, flat: Flat, place: Place) -> Iterator[list[Any]]:
        items = flat.get("items", True)
        first = flat.get("prefixItems", [])
        if isinstance(items, list):  # as drafts before 2020-12 wrote them
            first, items = items, flat.get("additionalItems", True)
        needed = flat.get("minContains", 1) if "contains" in flat else 0
        least = max(flat.get("minItems", 0), needed)
        usual = len(first) or ("items" in flat) * self.words.count(place.path)
        most = flat.get("maxItems", inf)
        if least > MOST_ITEMS:
            raise Impossible(f"More than {MOST_ITEMS} items are too many, at {place}.")
        count = least if place.is_lean else int(min(max(least, usual), most, MOST_ITEMS))
        made: list[Any] = []
        for n in range(count):
            schema = first[n] if n < len(first) else items
            if n < needed:
                schema = {"allOf": [schema, flat["contains"]]}
            try:
                here = place.under(n, flat[REFS])
                made.append(self.fill(schema, here, made if flat.get("uniqueItems") else ()))
            except Impossible:
                if n < least:
                    raise
                break
        yield made
        yield made[:least]

    # Objects

    def objects(self, flat: Flat, place: Place) -> Iterator[dict[str, Any]]:
        required = self.required(flat)
        optional = [name for name in flat.get("properties", {}) if name not in required]
        if not place.is_lean:
            yield self.object_with(required, optional, flat, place)
        yield self.object_with(required, optional[: self.lacking(flat, required)], flat, place)

    def required(self, flat: Flat) -> list[str]:
        """The names that must be there, and those that they bring along."""
        names = list(flat.get("required", []))
        more = flat.get("dependentRequired", {})
        for name in names:
            names += [each for each in more.get(name, []) if each not in names]
        return names

    def lacking(self, flat: Flat, names: Sequence[str]) -> int:
        return max(0, int(flat.get("minProperties", 0)) - len(names))

    def object_with(
        self, required: list[str], optional: list[str], flat: Flat, place: Place
    ) -> dict[str, Any]:
        made = {}
        for name in required:
            made[name] = self.fill(schema_of(name, flat), place.under(name, flat[REFS]))
        for name in optional:
            if len(made) >= flat.get("maxProperties", inf):
                break
            try:
                made[name] = self.fill(schema_of(name, flat), place.under(name, flat[REFS]))
            except Impossible:
                continue
        self.add_names(made, flat, place)
        order = [*flat.get("properties", {}), *made]
        return {name: made[name] for name in dict.fromkeys(order) if name in made}

    def add_names(self, made: dict[str, Any], flat: Flat, place: Place) -> None:
        """Names of the scribe's own, as many as the object still needs."""
        is_free = not flat.get("properties") and isinstance(flat.get("additionalProperties"), dict)
        wanted = max(int(flat.get("minProperties", 0)), 2 if is_free and not place.is_lean else 0)
        wanted = int(min(wanted, flat.get("maxProperties", inf)))
        while len(made) < wanted:
            try:
                name = self.new_name(made, flat, place.under(len(made), flat[REFS]))
                made[name] = self.fill(schema_of(name, flat), place.under(name, flat[REFS]))
            except Impossible:
                if len(made) < flat.get("minProperties", 0):
                    raise
                break

    def new_name(self, made: dict[str, Any], flat: Flat, place: Place) -> str:
        schema: Flat = {"allOf": [{"type": "string", "minLength": 1}]}
        if "propertyNames" in flat:
            schema["allOf"].append(flat["propertyNames"])
        patterns = flat.get("patternProperties", {})
        if patterns and flat.get("additionalProperties", True) is False:
            schema["anyOf"] = [{"pattern": each} for each in patterns]
        taken = [*made, *flat.get("properties", {})]
        return str(self.fill(schema, replace(place, path=("tag", len(made))), taken))


def types_of(flat: Flat) -> list[str]:
    """The types to try, in this order; without any, the keywords tell what is meant."""
    if "type" in flat:
        return sorted(listed(flat["type"]), key=lambda kind: kind == "null")
    meant = [kind for kind, marks in MARKS.items() if marks & flat.keys()]
    return [*meant, *(kind for kind in TYPES if kind not in meant)]


def schema_of(name: str, flat: Flat) -> Any:
    """What the value of this name must be like."""
    found = [flat["properties"][name]] if name in flat.get("properties", {}) else []
    for pattern, schema in flat.get("patternProperties", {}).items():
        if strings.finds(pattern, name):
            found.append(schema)
    if not found:
        return flat.get("additionalProperties", True)
    return found[0] if len(found) == 1 else {"allOf": found}


def identity(value: Any) -> str:
    """Equal for values that JSON Schema calls equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)
