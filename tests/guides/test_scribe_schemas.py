"""The scribe fills in any JSON Schema, or says that no value fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from guides.scribe.strings import FORMATS
from jobs.errors import BadRequest
from tests.guides.scribing import fill, write


@pytest.mark.parametrize("form", FORMATS)
def test_it_knows_the_formats(form):
    assert fill({"type": "string", "format": form}) == FORMATS[form]


@pytest.mark.parametrize(
    "pattern",
    [
        *("^[A-Z]{3}-[0-9]{4}$", r"^\d{4}-W\d{2}$", "^(yes|no)$", "^#[0-9a-f]{6}$", "a|b"),
        *("^[^a-z]+$", r"^(\w+)@\1$", "^$", r"^\S+( \S+){2}$", "^[ぁ-ん]{2,4}$", "guide"),
    ],
)
def test_it_writes_what_a_pattern_asks_for(pattern):
    fill({"type": "string", "pattern": pattern, "maxLength": 40})
    fill({"type": "array", "items": {"pattern": pattern, "type": "string"}, "minItems": 2})


NODE = {
    "type": "object",
    "properties": {
        "left": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        "right": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        "leaves": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        "next": {"$ref": "#/$defs/node"},
    },
    "required": ["left", "right", "leaves"],
}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
        {"type": "object", "properties": {"self": {"$ref": "#"}}, "required": []},
        {"type": "array", "items": {"$ref": "#"}},
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"type": "array", "items": {"$ref": "#/$defs/b"}, "minItems": 1},
                "b": {"oneOf": [{"$ref": "#/$defs/a"}, {"type": "integer", "minimum": 7}]},
            },
        },
    ],
)
def test_a_schema_that_leads_back_to_itself_comes_to_an_end(schema):
    fill(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"const": {"a": [1, None]}},
        {"type": ["null", "string"], "minLength": 300},
        {"type": "integer", "exclusiveMinimum": 7, "maximum": 8},
        {"type": "integer", "multipleOf": 7, "minimum": -20, "exclusiveMaximum": -13},
        {"type": "number", "multipleOf": 0.01, "minimum": 3.14},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001},
        {"allOf": [{"multipleOf": 4, "type": "integer"}, {"multipleOf": 6, "minimum": 1}]},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "items": {"enum": [1, "1", None]}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "string", "maxLength": 1}, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "integer"}, {"const": "x"}], "items": False},
        {"type": "array", "contains": {"const": 9}, "minItems": 2},
        {"type": "array", "maxItems": 0},
        {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
        {"type": "object", "propertyNames": {"pattern": "^x_[a-z]$"}, "minProperties": 2},
        {"type": "object", "patternProperties": {"^n[0-9]$": {"type": "null"}},
         "additionalProperties": False, "minProperties": 2},
        {"type": "object", "properties": {"a": False, "b": {"type": "null"}}},
        {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"]},
         "properties": {"b": {"const": 1}}},
        {"properties": {"kind": {"enum": ["x", "y"]}}, "required": ["kind"],
         "if": {"properties": {"kind": {"const": "x"}}}, "then": {"required": ["extra"]}},
        {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
        {"type": "string", "not": {"maxLength": 200}},
        {"type": "string", "default": "as ever"},
        {"type": "integer", "default": "of the wrong type"},
    ],
)  # fmt: skip
def test_it_fills_in_what_is_asked_for(schema):
    fill(schema)


def test_a_default_is_used():
    assert fill({"type": "string", "default": "as ever"}) == "as ever"


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"]},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "https://example.org/elsewhere.json"},
        {"type": "array", "minItems": 10**9},
        {"type": "string", "minLength": 10**9},
        {"type": "integer", "minimum": 3, "maximum": 2},
    ],
)
def test_what_can_not_be_filled_in_is_refused(schema):
    with pytest.raises(BadRequest, match="no value that fits"):
        write(schema=schema)


@pytest.mark.parametrize("schema", [{"type": "text"}, {"required": "a"}, [], "string"])
def test_what_is_no_schema_is_refused(schema):
    with pytest.raises(BadRequest, match="no JSON Schema"):
        write(schema=schema)


# Any schema

NAMES = st.sampled_from(["title", "name", "tags", "spots", "days", "x", "言葉", "a b"])


@st.composite
def strings(draw):
    least = draw(st.integers(0, 30))
    return {"type": "string", "minLength": least, "maxLength": least + draw(st.integers(0, 60))}


@st.composite
def numbers(draw):
    low = draw(st.integers(-1000, 1000))
    step = draw(st.sampled_from([None, 1, 3, 0.5, 0.25]))
    wide = {"minimum": low, "maximum": low + draw(st.integers(3, 100))}
    kind = draw(st.sampled_from(["integer", "number"]))
    return {"type": kind, **wide, **({"multipleOf": step} if step else {})}


@st.composite
def objects(draw, inner):
    properties = draw(st.dictionaries(NAMES, inner, max_size=4))
    required = (
        draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    )
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": draw(st.booleans()),
    }


@st.composite
def arrays(draw, inner):
    least = draw(st.integers(0, 4))
    first = draw(st.lists(inner, max_size=2))
    return {
        "type": "array",
        "items": draw(inner),
        "minItems": least,
        "maxItems": least + draw(st.integers(0, 3)),
        **({"prefixItems": first} if first else {}),
    }


def combined(inner):
    return st.sampled_from(["anyOf", "allOf"]).flatmap(
        lambda key: st.builds(
            lambda each: {key: each},
            st.lists(inner, min_size=1, max_size=3 if key == "anyOf" else 1),
        )
    )


def nullable(inner):
    return inner.map(
        lambda each: {"oneOf": [{"type": "null"}, {"allOf": [each], "not": {"type": "null"}}]}
    )


PLAIN = st.one_of(
    strings(),
    numbers(),
    st.just({"type": "boolean"}),
    st.lists(st.one_of(st.integers(), st.text(max_size=5), st.none()), min_size=1).map(
        lambda values: {"enum": values}
    ),
    st.just({"$ref": "#/$defs/shared"}),
    st.sampled_from([{"type": "string", "format": each} for each in sorted(FORMATS)]),
    st.just({"anyOf": [{"$ref": "#"}, {"type": "integer"}]}),
)
SCHEMAS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(objects(inner), arrays(inner), combined(inner), nullable(inner)),
    max_leaves=12,
)


@pytest.mark.search
@given(schema=SCHEMAS, shared=strings())
def test_any_schema_is_filled_in(schema, shared):
    schema = {"type": "object", "properties": {"x": schema}, "$defs": {"shared": shared}}
    schema["required"] = ["x"]
    Draft202012Validator.check_schema(schema)

    fill(schema)
