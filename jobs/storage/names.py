"""Which names stored files may have."""

import re

from django.core.exceptions import SuspiciousFileOperation

# No part begins with a dot: that excludes ".." and files that are still being written.
NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)


def checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise SuspiciousFileOperation(f"{name!r} can't be the name of a file.")
    return name
