"""A saved guide refreshes the summaries of its three weightiest topics, and asks nothing twice."""

from guides import services
from guides.derived.models import Commission, Version
from guides.models import Guide
from guides.topics import asking, finding
from guides.topics.models import RefreshTopic, TopicSummary
from jobs import queue
from jobs.events.models import EventJob
from tests.guides.topics.making import ENGLISH, JAPANESE, cool_down, save, texts, touch, work
from tests.guides.withdrawing import tell_withdrawn


def test_exactly_the_three_weightiest_topics_are_asked_for(teller):
    save("nara", ["zoo"])
    work(EventJob)
    save("kyoto", ["temple", "lake"], ["temple", "zoo"], ["Temple", "art"], ["lake"])

    work()

    assert finding.weigh("kyoto") == ["temple", "lake", "zoo"]
    assert sorted(set(teller.asked)) == sorted(
        (topic, language) for topic in ("temple", "lake", "zoo") for language in ("en", "ja")
    )
    assert len(teller.asked) == 6
    assert texts() == {"en": ENGLISH, "ja": JAPANESE}


def test_a_topic_that_more_guides_share_weighs_more_than_its_letters(db):
    save("nara", ["zoo"])
    save("kyoto", ["art", "bridge", "castle", "zoo"])

    assert finding.weigh("kyoto") == ["zoo", "art", "bridge"]


def test_a_guide_without_tags_asks_for_nothing(teller):
    save("kyoto", [])

    work()

    assert teller.asked == []
    assert not RefreshTopic.objects.exists()


def test_guides_that_share_a_topic_ask_for_it_once(teller):
    for plan_id in ("kyoto", "nara", "osaka"):
        save(plan_id, ["temple"])

    work()

    assert sorted(teller.asked) == [("temple", "en"), ("temple", "ja")]
    assert RefreshTopic.objects.count() == 1


def test_the_same_facts_ask_nothing(teller):
    save("kyoto", ["temple"])
    work()
    cool_down()
    services.note_saved(Guide.objects.get(), "updated")

    work()

    assert len(teller.asked) == 2
    assert RefreshTopic.objects.filter(status="succeeded").count() == 2


def test_facts_that_are_on_their_way_are_not_asked_for_again(teller):
    save("kyoto", ["temple"])
    work(EventJob, RefreshTopic)
    cool_down()

    asking.refresh("temple")
    work()

    assert len(teller.asked) == 2


def test_a_change_within_the_cooldown_is_told_after_it(teller):
    save("kyoto", ["temple"])
    work()
    touch("kyoto", "Now with a pond.")
    touch("kyoto", "Now with a garden.")

    work()
    within = len(teller.asked)
    waiting = RefreshTopic.objects.filter(status="queued").count()
    cool_down()
    work()

    assert (within, waiting) == (2, 1)
    assert len(teller.asked) == 4


def test_a_refresh_that_comes_too_early_all_the_same_waits(teller):
    save("kyoto", ["temple"])
    work()
    touch("kyoto", "Now with a pond.")
    queue.enqueue([RefreshTopic(tag="temple")])

    work(RefreshTopic)

    assert len(teller.asked) == 2
    early = RefreshTopic.objects.get(status="queued")
    rest = early.run_after - early.updated_at
    assert 0 < rest.total_seconds() <= 6 * 60 * 60
    assert early.attempts == 0


def test_without_a_cooldown_each_change_is_told_at_once(teller, settings):
    settings.TOPIC_COOLDOWN_HOURS = 0
    save("kyoto", ["temple"])
    work()
    touch("kyoto", "Now with a pond.")

    work()

    assert len(teller.asked) == 4


def test_what_changes_while_a_refresh_runs_makes_another_one_follow(teller):
    save("kyoto", ["temple"])
    work(EventJob)
    [running] = queue.claim(RefreshTopic, 1, "slow", asking.timedelta(minutes=1))

    asking.enqueue(["temple"])

    assert RefreshTopic.objects.filter(status="queued").count() == 1
    assert RefreshTopic.objects.exclude(pk=running.pk).get().unique_key == "temple"


def test_only_the_language_that_came_to_nothing_is_asked_for_again(teller):
    teller.answers["ja"] = '{"summary": ""}'
    save("kyoto", ["temple"])
    work()
    first = texts()
    teller.answers["ja"] = '{"summary": "水辺の寺。"}'
    cool_down()
    services.note_saved(Guide.objects.get(), "updated")

    work()

    assert first == {"en": ENGLISH, "ja": ""}
    assert texts() == {"en": ENGLISH, "ja": "水辺の寺。"}
    assert teller.asked.count(("temple", "en")) == 1
    assert teller.asked.count(("temple", "ja")) == 2


def test_a_withdrawn_guide_is_no_longer_told_of(teller):
    save("kyoto", ["temple"])
    save("nara", ["temple"])
    work()
    tell_withdrawn("nara")
    cool_down()

    work()
    cool_down()
    work()

    assert len(teller.asked) == 4
    assert TopicSummary.objects.get(language="en").plan_ids == ["kyoto"]


def test_a_guide_that_is_published_again_is_told_of(teller, admin_client):
    save("kyoto", ["temple"])
    save("nara", ["temple"])
    tell_withdrawn("nara")
    work()
    cool_down()
    services.publish_guides(Guide.objects.filter(pk="nara"))

    work()

    assert TopicSummary.objects.get(language="en").plan_ids == ["nara", "kyoto"]


def test_each_text_is_a_version_with_its_maker_and_its_commission(teller):
    save("kyoto", ["temple"])

    work()

    version = Version.objects.get(unit="topic:en:temple")
    commission = Commission.objects.get()
    assert version.payload == {"text": ENGLISH}
    assert (version.made_by, version.process_id) == ("teller", commission.pk)
    assert (commission.slice, commission.subject, commission.requests) == ("topics", "temple", 2)
    assert commission.kept_at


def test_facts_are_bounded(db):
    for number in range(12):
        save(f"guide-{number}", *[["temple"]] * 9)

    facts = asking.gather("temple")

    assert len(facts.guides) == asking.MOST_GUIDES
    assert {len(guide["spots"]) for guide in facts.guides} == {finding.MOST_SPOTS}
