from config.doors.models import ApiToken, Throttle

__all__ = ["ApiToken", "Throttle"]
