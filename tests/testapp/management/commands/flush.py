from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.core.management.commands import flush
from django.db import connections, transaction

KEPT = (ContentType, Permission, Group, Group.permissions.through)  # `migrate` made their rows


class Command(flush.Command):
    help = "Empties the tables that hold rows, after every test with real transactions."

    rows_at_first: list[int] = []

    def handle(self, *, database, **options):
        connection = connections[database]
        kept = {model._meta.db_table for model in KEPT}
        tables = sorted(set(connection.introspection.django_table_names()) - kept)
        with transaction.atomic(database), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # A process that was just killed may still be committing.
                cursor.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE MODE")
            cursor.execute(
                " UNION ALL ".join(
                    f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables
                )
            )
            filled = [table for (table,) in cursor.fetchall()]
            for statement in connection.ops.sql_flush(no_style(), filled, allow_cascade=True):
                cursor.execute(statement)
        self.check_what_is_kept()

    def check_what_is_kept(self):
        """A test that changes groups or permissions must roll back: use `db`."""
        rows = [model.objects.count() for model in KEPT]
        Command.rows_at_first = Command.rows_at_first or rows
        assert rows == Command.rows_at_first
