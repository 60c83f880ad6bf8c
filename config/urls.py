from django.contrib import admin
from django.urls import include, path

from config import metrics, next_request, notices, probes, run_jobs
from config.admin import search
from config.doors import login
from jobs.admin import dashboard

urlpatterns = [
    path("robots.txt", notices.robots),
    path(".well-known/security.txt", notices.security),
    path(next_request.PATH.lstrip("/"), run_jobs.run_jobs),
    path("healthz", probes.page),
    path("readyz", probes.page),
    path("metrics", metrics.page),
    path("", include("guides.urls")),
    path("admin/console/", admin.site.admin_view(dashboard.fragment), name="console"),
    path("admin/login/", login.page),
    path("admin/search/", admin.site.admin_view(search)),
    path("admin/", admin.site.urls),
]

handler403 = "config.refusals.permission_denied"
handler400 = "config.errors.bad_request"
handler500 = "config.errors.server_error"
