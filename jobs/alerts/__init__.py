"""Alerts: what needs a person, told outside the console when it begins and when it ends."""
