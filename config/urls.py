from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("guides.urls")),
    path("admin/", admin.site.urls),
]

handler500 = "config.errors.server_error"
