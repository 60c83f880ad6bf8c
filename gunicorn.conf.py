"""How the site is served: `gunicorn`, started in this folder, reads this file by itself.

docs/servers.md says which requests it survives, and what the proxy in front must do.
"""

import os

wsgi_app = "config.wsgi"
worker_class = "config.web.SiteWorker"

workers = int(os.environ.get("WEB_CONCURRENCY") or 2)  # processes
threads = 16  # per process; each may use a connection of the database
worker_connections = 500  # per process; the usual limit of open files is 1,024
timeout = 60  # seconds for a request in a thread, and for a process to show that it lives
keepalive = 5  # seconds until an idle connection is closed
graceful_timeout = 30  # seconds for running requests when the server stops

# No header of a client changes the scheme or the site's path. TRUST_PROXY decides about
# X-Forwarded-Proto, in config/settings.py.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""

control_socket_disable = True  # signals are enough
