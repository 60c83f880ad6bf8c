"""JSON Schema, flattened: what a value must be like, without references and combinations."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from itertools import islice, product, zip_longest
from math import gcd, lcm
from typing import Any
from urllib.parse import unquote

Flat = dict[str, Any]
Inner = tuple[Any, frozenset[str]]  # a schema, and the references that led to it

REFS = "$refs"  # in a flat schema: the references that led to it
JOINING = {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "const", "not"}
MOST_OPTIONS = 200


class Impossible(Exception):
    """No value can be found that fits."""


class Root:
    """A whole schema, in which references are looked up."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.anchors: dict[str, Any] = {}
        self.note_anchors(schema)

    def note_anchors(self, schema: Any) -> None:
        inner = schema.values() if isinstance(schema, Mapping) else schema
        if isinstance(schema, Mapping):
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(key), str):
                    self.anchors.setdefault(schema[key], schema)
        if isinstance(schema, Mapping | list):
            for each in inner:
                self.note_anchors(each)

    def find(self, ref: str) -> Any:
        """The schema that a reference names; references to other documents lead nowhere."""
        _, hash_sign, pointer = ref.partition("#")
        found: Any = self.schema
        if not hash_sign or (ref[0] != "#" and ref.partition("#")[0] != self.schema.get("$id")):
            raise Impossible(f"The reference {ref!r} leads out of the schema.")
        if pointer and not pointer.startswith("/"):
            if pointer in self.anchors:
                return self.anchors[pointer]
            raise Impossible(f"The reference {ref!r} leads nowhere.")
        try:
            for part in unquote(pointer).split("/")[1:]:
                step = part.replace("~1", "/").replace("~0", "~")
                found = found[int(step)] if isinstance(found, list) else found[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Impossible(f"The reference {ref!r} leads nowhere.") from None
        return found

    def options(self, schema: Any) -> Iterator[Flat]:
        """The flat schemas of which a value must fit one."""
        return islice(self._options(schema, frozenset()), MOST_OPTIONS)

    def _options(self, schema: Any, through: frozenset[str]) -> Iterator[Flat]:
        if not isinstance(schema, Mapping):
            if schema is not False:
                yield {REFS: through}
            return
        plain = {key: value for key, value in schema.items() if key not in JOINING}
        plain[REFS] = through
        if "const" in schema:
            plain = merge(plain, {"enum": [schema["const"]]})
        for chosen in product(*self.groups(schema, through)):
            found = [list(islice(self._options(*each), MOST_OPTIONS)) for each in chosen]
            for parts in product(*found):
                try:
                    yield reduce(merge, parts, plain)
                except Impossible:
                    continue

    def groups(self, schema: Mapping[str, Any], through: frozenset[str]) -> list[list[Inner]]:
        """The schemas inside: the value must also fit one of each group."""
        groups = [[(each, through)] for each in schema.get("allOf", [])]
        for ref in (schema[key] for key in ("$ref", "$dynamicRef") if key in schema):
            # Around in a circle there is nothing to fill in.
            inner = [] if ref in through else [(self.find(ref), through | {ref})]
            groups.append(inner)
        for key in ("anyOf", "oneOf"):
            groups += [[(each, through) for each in schema[key]]] if key in schema else []
        if "if" in schema:
            then = {"allOf": [schema["if"], schema.get("then", True)]}
            groups.append([(then, through), (schema.get("else", True), through)])
        return groups


# What two schemas demand together


def merge(one: Flat, other: Flat) -> Flat:
    merged = dict(one)
    for key, value in other.items():
        both = MERGERS.get(key, last)
        merged[key] = both(merged[key], value) if key in merged else value
    return merged


def last(old: Any, new: Any) -> Any:
    return new


def both(old: Any, new: Any) -> Any:
    return {"allOf": [old, new]}


def same_types(old: Any, new: Any) -> list[str]:
    narrow = {(one, other) for one in listed(old) for other in listed(new)}
    found = [one for one, other in narrow if one == other]
    found += ["integer" for pair in narrow if set(pair) == {"integer", "number"}]
    if not found:
        raise Impossible(f"Nothing is of the types {old} and {new}.")
    return sorted(set(found), key=TYPES.index)


def same_values(old: list[Any], new: list[Any]) -> list[Any]:
    return [each for each in old if each in new]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def all_properties(old: Flat, new: Flat) -> Flat:
    shared = {name: both(old[name], new[name]) for name in old.keys() & new.keys()}
    return {**old, **new, **shared}


def all_items(old: list[Any], new: list[Any]) -> list[Any]:
    return [both(*pair) for pair in zip_longest(old, new, fillvalue=True)]


def common_multiple(old: float, new: float) -> float:
    one, other = fraction(old), fraction(new)
    found = Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))
    return found.numerator if found.denominator == 1 else float(found)


def fraction(number: float) -> Fraction:
    """As it is written: 0.1 is a tenth."""
    return Fraction(str(number))


TYPES = ["string", "object", "array", "integer", "number", "boolean", "null"]
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
INNER = ("items", "additionalProperties", "propertyNames", "contains")
MERGERS: dict[str, Callable[[Any, Any], Any]] = {
    REFS: lambda old, new: old | new,
    "type": same_types,
    "enum": same_values,
    "properties": all_properties,
    "patternProperties": all_properties,
    "prefixItems": all_items,
    "required": lambda old, new: list(dict.fromkeys([*old, *new])),
    "pattern": lambda old, new: [*listed(old), *listed(new)],
    "multipleOf": common_multiple,
    **dict.fromkeys(INNER, both),
    **dict.fromkeys(LEAST, max),
    **dict.fromkeys(MOST, min),
}
