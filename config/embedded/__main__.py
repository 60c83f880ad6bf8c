"""python -m config.embedded {stop,status} FOLDER..."""

import argparse
from pathlib import Path

from config.embedded.server import Server

parser = argparse.ArgumentParser(prog="python -m config.embedded")
parser.add_argument("action", choices=["stop", "status"])
parser.add_argument("folders", nargs="+", type=Path, metavar="folder")
arguments = parser.parse_args()

for folder in arguments.folders:
    server = Server(folder.absolute())
    if arguments.action == "stop" and server.stop():
        print(f"{folder}: stopped")
    elif pid := server.pid():
        print(f"{folder}: running as process {pid}, socket in {server.sockets}")
    else:
        print(f"{folder}: not running")
