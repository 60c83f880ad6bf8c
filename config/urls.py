from django.contrib import admin
from django.urls import include, path

from jobs.admin import dashboard

urlpatterns = [
    path("", include("guides.urls")),
    path("admin/console/", admin.site.admin_view(dashboard.fragment), name="console"),
    path("admin/", admin.site.urls),
]

handler403 = "config.refusals.permission_denied"
handler400 = "config.errors.bad_request"
handler500 = "config.errors.server_error"
