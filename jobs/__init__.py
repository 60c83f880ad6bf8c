"""A queue in the database for slow, rate-limited, paid calls. It knows no domain."""

__version__ = "0.1.0"
