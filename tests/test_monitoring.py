"""The dashboard and the alert rules of docs/monitoring name only what /metrics shows."""

import json
import re
from pathlib import Path

import pytest
import yaml

from jobs.metrics.families import FAMILIES
from jobs.models import Outcome, Status

FOLDER = Path(__file__).parents[1] / "docs" / "monitoring"
SUFFIXES = {"gauge": [""], "counter": ["_total"], "summary": ["_sum", "_count"]}
SHOWN = {family.name + suffix: family for family in FAMILIES for suffix in SUFFIXES[family.type]}
USED = re.compile(r"\b(tabie_\w+)(?:\{(.*?)\})?")
MATCHER = re.compile(r'(\w+)=~?"([^"]*)"')
GROUPED = re.compile(r"\b(?:by|on) \(([^)]*)\)")
CHOICES = {"status": Status.values, "outcome": Outcome.values}
LABELS = {label for family in FAMILIES for label in family.labels}


def rules():
    [group] = yaml.safe_load((FOLDER / "tabie-alerts.yml").read_text())["groups"]
    return group["rules"]


def panels():
    return json.loads((FOLDER / "tabie-dashboard.json").read_text())["panels"]


QUERIES = [
    *((rule["alert"], rule["expr"]) for rule in rules()),
    *((panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]),
]


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_a_query_names_only_metrics_and_labels_that_exist(title, query):
    used = USED.findall(query)

    assert used
    for name, matchers in used:
        assert name in SHOWN
        for label, values in MATCHER.findall(matchers):
            assert label in SHOWN[name].labels
            assert set(values.split("|")) <= set(CHOICES[label])
    for labels in filter(None, GROUPED.findall(query)):
        assert {label.strip() for label in labels.split(",")} <= LABELS
    assert query.count("(") == query.count(")")


@pytest.mark.parametrize("file", ["tabie-alerts.yml", "tabie-dashboard.json"])
def test_every_metric_is_used(file):
    text = (FOLDER / file).read_text()
    used = {SHOWN[name].name for name, _ in USED.findall(text)}
    # Some only explain what others warn of.
    unused = {"tabie_attempt_seconds", "tabie_provider_tokens", "tabie_workers_working"}

    assert {family.name for family in FAMILIES} - used <= unused


def test_every_metric_is_explained():
    page = (FOLDER.parent / "monitoring.md").read_text()

    assert not [name for name in SHOWN if f"`{name}" not in page]


def test_every_alert_says_how_bad_it_is_and_what_is_wrong():
    for rule in rules():
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        labels = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert labels <= {
            label for name, _ in USED.findall(rule["expr"]) for label in SHOWN[name].labels
        }


def test_panels_do_not_overlap():
    places = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"])
        for panel in panels()
        for x in range(panel["gridPos"]["w"])
    ]

    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
