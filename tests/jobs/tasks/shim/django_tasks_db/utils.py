from django.db.transaction import atomic as exclusive_transaction

normalize_uuid = str

__all__ = ["exclusive_transaction", "normalize_uuid"]
