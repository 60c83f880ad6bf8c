from django.contrib import admin

from jobs.admin import JobAdmin
from tests.testapp.models import Chore

admin.site.register(Chore, JobAdmin)
