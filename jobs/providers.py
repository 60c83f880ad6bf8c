"""Who may start how much: asked by every claim."""

from jobs.models import Job


def room(model: type[Job], wanted: int) -> int:
    """How many jobs of this model may start now. Nothing limits them yet."""
    return wanted
