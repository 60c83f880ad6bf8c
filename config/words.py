"""Words of unfold that the console shows. Unfold brings no Japanese, so our catalogue has them."""

from django.utils.translation import gettext_noop

WORDS = (
    gettext_noop("Add row"),
    gettext_noop("Apply Filters"),
    gettext_noop("Click to cancel"),
    gettext_noop("False"),
    gettext_noop("From"),
    gettext_noop("General"),
    gettext_noop("Go back"),
    gettext_noop("Next"),
    gettext_noop("Previous"),
    gettext_noop("Reset filters"),
    gettext_noop("Run"),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select all rows"),
    gettext_noop("Select record"),
    gettext_noop("This item will be deleted."),
    gettext_noop("To"),
    gettext_noop("Toggle password visibility"),
    gettext_noop("True"),
    gettext_noop("You have been successfully logged out from the administration"),
    gettext_noop("After you've created a user, you’ll be able to edit more user options."),
)
