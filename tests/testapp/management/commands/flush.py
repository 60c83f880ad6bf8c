from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.commands import flush
from django.db import connections, transaction

KEPT = (ContentType, Permission, Group, Group.permissions.through)  # `migrate` made their rows
BIG = 65_536  # bytes
SIZES = (
    "SELECT relname, pg_relation_size(oid) FROM pg_class"
    " WHERE relname = ANY(%s) AND relkind = 'r' AND pg_table_is_visible(oid)"
)


class Command(flush.Command):
    help = "Empties the tables that hold rows, after every test with real transactions."

    rows_at_first: tuple[int, ...] = ()

    def handle(self, *, database, **options):
        connection = connections[database]
        kept = {model._meta.db_table for model in KEPT}
        tables = sorted(set(connection.introspection.django_table_names()) - kept)
        with transaction.atomic(database), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # Wait for a killed process whose transaction is still committing.
                cursor.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE MODE")
                cursor.execute(SIZES, [tables])
                sizes = dict(cursor.fetchall())
                # For big tables faster than DELETE, and leaves no dead rows to slow later tests.
                for table in tables:
                    if sizes[table] > BIG:
                        cursor.execute(f"TRUNCATE {table} CASCADE")
                # To ask an empty file for its rows costs more than to know its size.
                tables = [table for table in tables if sizes[table]]
            for table in find_with_rows(cursor, tables):
                cursor.execute(f"DELETE FROM {table}")
        with connection.cursor() as cursor:
            self.check_what_is_kept(cursor, sorted(kept))

    def check_what_is_kept(self, cursor, tables):
        """Check that no test changed groups or permissions: it must roll back, so use `db`."""
        counts = ", ".join(f"(SELECT COUNT(*) FROM {table})" for table in tables)
        cursor.execute(f"SELECT {counts}")
        rows = cursor.fetchone()
        Command.rows_at_first = Command.rows_at_first or rows
        assert rows == Command.rows_at_first


def find_with_rows(cursor, tables):
    if not tables:
        return []
    questions = (f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables)
    cursor.execute(" UNION ALL ".join(questions))
    return [table for (table,) in cursor.fetchall()]
