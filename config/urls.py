from django.contrib import admin
from django.urls import include, path

from config import notices
from config.admin import search
from config.doors import login

urlpatterns = [
    path("robots.txt", notices.robots),
    path(".well-known/security.txt", notices.security),
    path("", include("guides.urls")),
    path("admin/login/", login.page),
    path("admin/search/", admin.site.admin_view(search)),
    path("admin/", admin.site.urls),
]

handler403 = "config.refusals.permission_denied"
handler400 = "config.errors.bad_request"
handler500 = "config.errors.server_error"
