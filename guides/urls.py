from django.urls import path, re_path, register_converter

from guides import api, api_events, api_processes, feed, making, pages, topic_pages, week_pages
from guides.topics.tags import InPath

register_converter(InPath, "tag")

urlpatterns = [
    path("", pages.home, name="home"),
    path("cards/", pages.cards, name="cards"),
    path("weeks/", week_pages.weeks, name="weeks"),
    path("weeks/<str:week_key>/", week_pages.week, name="week"),
    path("feed/", feed.feed, name="feed"),
    path("guides/new/", making.new_guide, name="new_guide"),
    path("guides/<str:plan_id>/", pages.guide, name="guide"),
    path("guides/<str:plan_id>/images/", pages.images, name="images"),
    path("guides/<str:plan_id>/spots/<int:spot_id>/image/", pages.spot_image, name="spot_image"),
    path("topics/", topic_pages.topics, name="topics"),
    path("topics/<tag:tag>/", topic_pages.topic, name="topic"),
    re_path(r"^pictures/(?P<name>[0-9a-f]{64}/\d{3,4}\.webp)$", pages.picture, name="picture"),
    path("favicon.ico", pages.favicon),
    path("api/openapi.json", api.description, name="api_description"),
    path("api/guides/", api.hand_over, name="hand_over"),
    path("api/guides/<str:plan_id>/status/", api.guide_status, name="guide_status"),
    path("api/events/", api_events.take_event, name="take_event"),
    path("api/processes/<str:id>/", api_processes.process, name="process"),
    path("api/<path:path>", api.nothing),
    path("api/", api.nothing),
]
