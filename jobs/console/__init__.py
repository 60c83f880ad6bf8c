"""What operators see and do, for the admin and for `manage.py jobs` alike."""
