from pathlib import Path
from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError

from config.embedded.server import Server


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL engine; it starts the server when none answers."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        server = Server(Path(self.settings_dict["FOLDER"]), self.settings_dict["DURABLE"])
        if self.pool:
            # A pool waits long for a missing server, so check first.
            if self.pool.closed or not server.is_running():
                server.start()
            return super().get_new_connection(conn_params)
        try:
            server.check_sockets()
            return super().get_new_connection(conn_params)
        except OperationalError:
            server.start()
            return super().get_new_connection(conn_params)
