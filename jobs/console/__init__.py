"""What operators see and do, shared by the admin and `manage.py jobs`."""
