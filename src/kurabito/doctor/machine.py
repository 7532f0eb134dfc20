"""The machine: folder, disk, clock and port."""

from __future__ import annotations

import http.client
import json
import os
import stat
from pathlib import Path
from typing import Final

from kurabito.app.listener import is_loopback, listen, weakness_of_key
from kurabito.app.state import holder_of
from kurabito.app.troubles import read_troubles
from kurabito.attention import Severity
from kurabito.clock import SECOND, SystemClock, to_datetime
from kurabito.doctor.findings import CheckResult, broken, ok, warning
from kurabito.errors import ConfigError
from kurabito.maintenance import disk_space as space
from kurabito.settings import Settings, explain

# No certificate is valid and no schedule makes sense on a machine whose clock was never set.
_YEAR_2020: Final = 1_577_836_800 * SECOND
_PATIENCE: Final = 3.0
# URLs of proxies and databases may have a password in them.
_SECRETS: Final = frozenset({"api_key", "tmdb_key", "proxy", "database"})
_OURS_FAILING: Final = ("not_working", "database_unavailable")


def state_folder(settings: Settings) -> CheckResult:
    """The state folder is writable, and other users cannot read it."""
    folder = settings.state
    nearest = space.nearest(folder)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return broken(
            f"{folder} cannot be written by this user", "chown it to this user, or set KURABITO_STATE to another folder"
        )
    if nearest != folder:
        return ok(f"{folder} is not there yet; `kurabito serve` makes it")
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        return warning(f"{folder} can be read by other users (mode {mode:o})", f"chmod 700 {folder}")
    return ok(f"{folder} is this user's alone")


def state_lock(settings: Settings) -> CheckResult:
    """Who serves this state."""
    holder = holder_of(settings.state)
    return ok(f"{holder} serves it" if holder else "no process serves it at the moment")


def parts(settings: Settings) -> CheckResult | None:
    """Everything in the process that serves this state works."""
    if holder_of(settings.state) is None:
        return None
    if troubles := read_troubles(settings.state):
        listed = "; ".join(f"{part.replace('_', ' ')}: {why}" for part, why in sorted(troubles.items()))
        return broken(f"not working: {listed}", "the log of `kurabito serve` tells the whole story")
    return ok("every part of the process that serves it works")


def disk_space(settings: Settings) -> CheckResult:
    """There is room to write."""
    return judge_space(space.disk_space(settings.state))


def judge_space(found: space.DiskSpace) -> CheckResult:
    """Whether the room is enough."""
    says = f"{found.free / space.MB:,.0f} MB are free for {found.folder}"
    if found.severity is Severity.BROKEN:
        return broken(says, "make room: a full disk stops every write")
    if found.severity is Severity.WARNING:
        return warning(says, "make room before the disk is full: a full disk stops every write")
    return ok(says)


def clock(_settings: Settings) -> CheckResult:
    """The machine knows what time it is."""
    return judge_clock(SystemClock().now())


def judge_clock(now: int) -> CheckResult:
    """Whether it can be that late."""
    says = f"the clock says {to_datetime(now):%Y-%m-%d %H:%M:%S} UTC"
    if now < _YEAR_2020:
        return broken(says, "set the clock, for instance with `timedatectl set-ntp true`")
    return ok(says)


def port(settings: Settings) -> CheckResult:
    """It is free, or Kurabito answers there."""
    place = f"port {settings.port} of {settings.host}"
    if settings.port == 0:
        return ok("a free port is taken at each start")
    try:
        listen(settings.host, settings.port).close()
    except ConfigError as problem:
        release = _who_answers(settings.host, settings.port)
        return ok(f"Kurabito {release} answers on {place}") if release else broken(str(problem))
    return ok(f"{place} is free")


def api_key(settings: Settings) -> CheckResult | None:
    """The key of the settings cannot be guessed."""
    if (problem := weakness_of_key(settings)) is None:
        return None
    remedy = "use `kurabito key create` instead, or a key of 32 random characters"
    return warning(problem, remedy) if is_loopback(settings.host) else broken(problem, remedy)


def secret_files(settings: Settings) -> CheckResult | None:
    """Files with passwords and keys are this user's alone."""
    files = {Path(each.origin): each.name for each in explain(settings) if each.name in _SECRETS}
    if settings.password_file is not None:
        files[settings.password_file] = "the password"
    for file, what in files.items():
        if file.is_absolute() and file.is_file() and stat.S_IMODE(file.stat().st_mode) & 0o077:
            return warning(f"other users may read {what} in {file}", f"chmod 600 {file}")
    return None


def _who_answers(host: str, number: int) -> str | None:
    """The version of the Kurabito that answers there."""
    connection = http.client.HTTPConnection(host, number, timeout=_PATIENCE)
    try:
        connection.request("GET", "/health", headers={"Host": f"localhost:{number}"})
        answer = connection.getresponse()
        health = json.loads(answer.read(10_000))
        if answer.status == 503 and health["error"]["code"] in _OURS_FAILING:
            # It is ours and says that something fails: what, other checks tell.
            return "(not all of it works)"
        return str(health["version"]) if health["status"] == "ok" else None
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return None
    finally:
        connection.close()
