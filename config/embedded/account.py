"""The account that runs PostgreSQL, which refuses to run as root."""

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

# Inside this namespace root appears as user 1000; outside, the files still belong to root.
NAMESPACE = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
OTHER_ACCOUNTS = ["postgres", "nobody"]


def identity(folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Return what to put before a command, and which user subprocess should become.

    An ordinary user runs the server itself. Root runs the server of `folder` as the folder's owner.
    """
    if os.geteuid() != 0:
        return [], {}
    owner = folder.stat()
    if owner.st_uid != 0:
        return [], {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
    if namespace_permitted():
        return NAMESPACE, {}
    account = other_account()
    give_away(folder, account)
    return [], {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def namespace_permitted() -> bool:
    try:
        trial = subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True)
    except OSError:
        return False
    return trial.returncode == 0


def other_account() -> pwd.struct_passwd:
    for account in pwd.getpwall():
        if account.pw_name in OTHER_ACCOUNTS:
            return account
    raise LookupError(
        "PostgreSQL does not run as root, user namespaces are not permitted, and there is no "
        f"account named {' or '.join(OTHER_ACCOUNTS)}. Run as an ordinary user."
    )


def give_away(folder: Path, account: pwd.struct_passwd) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
