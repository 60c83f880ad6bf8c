from django.urls import path, re_path

from guides import pages

urlpatterns = [
    path("", pages.home, name="home"),
    path("guides/<str:plan_id>/", pages.guide, name="guide"),
    path("guides/<str:plan_id>/images/", pages.images, name="images"),
    path("guides/<str:plan_id>/spots/<int:spot_id>/image/", pages.spot_image, name="spot_image"),
    re_path(r"^pictures/(?P<name>[0-9a-f]{64}/\d{3,4}\.webp)$", pages.picture, name="picture"),
]
