#!/usr/bin/env python
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from config import database_names

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(database_names.take(sys.argv))
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"ImproperlyConfigured: {error}")  # the text says what to do
