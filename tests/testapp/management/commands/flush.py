from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.commands import flush
from django.db import connections, transaction

KEPT = (ContentType, Permission, Group, Group.permissions.through)  # `migrate` made their rows
BIG = 65_536  # bytes


class Command(flush.Command):
    help = "Empties the tables that hold rows, after every test with real transactions."

    rows_at_first: list[int] = []

    def handle(self, *, database, **options):
        connection = connections[database]
        kept = {model._meta.db_table for model in KEPT}
        tables = sorted(set(connection.introspection.django_table_names()) - kept)
        with transaction.atomic(database), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # Wait for a killed process whose transaction is still committing.
                cursor.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE MODE")
                # For big tables faster than DELETE, and leaves no dead rows to slow later tests.
                for table in find(cursor, tables, "pg_relation_size('{0}') > " + str(BIG)):
                    cursor.execute(f"TRUNCATE {table} CASCADE")
            for table in find(cursor, tables, "EXISTS (SELECT 1 FROM {0})"):
                cursor.execute(f"DELETE FROM {table}")
        self.check_what_is_kept()

    def check_what_is_kept(self):
        """Check that no test changed groups or permissions: it must roll back, so use `db`."""
        rows = [model.objects.count() for model in KEPT]
        Command.rows_at_first = Command.rows_at_first or rows
        assert rows == Command.rows_at_first


def find(cursor, tables, condition):
    questions = (f"SELECT '{table}' WHERE {condition.format(table)}" for table in tables)
    cursor.execute(" UNION ALL ".join(questions))
    return [table for (table,) in cursor.fetchall()]
