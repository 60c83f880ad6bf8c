class Unreadable(Exception):
    """An error whose str, repr and kind raise."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def __str__(self):
        raise self.error

    __repr__ = __str__

    @property
    def kind(self):
        raise self.error
