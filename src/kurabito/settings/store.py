"""The one writer of the settings that the database holds.

A secret is written and never given back: what is read here is applied, and shown masked. The file of the database is its
owner's alone, and the role of data planes cannot read the table.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from pydantic import SecretStr, ValidationError

from kurabito.clock import Clock, SystemClock
from kurabito.contact import place_of
from kurabito.db import Connection, Database, Queries, open_database
from kurabito.db.factory import file_of
from kurabito.db.migrate import PRODUCT, pending
from kurabito.errors import ConfigError, InvalidInput, KurabitoError
from kurabito.logs import MASK, get_logger
from kurabito.reasons import Reason
from kurabito.settings.effects import LOCAL
from kurabito.settings.errors import SettingLocked, SettingsRefused
from kurabito.settings.loader import PREFIX, merged, unknown_setting, validated, variable, with_stored
from kurabito.settings.model import Given, Settings
from kurabito.settings.origins import Origin, explain, is_secret, outranks_database, shown_value, source_of
from kurabito.settings.problems import RENEWAL, SettingProblem, SettingReason, problems_of

SEEN_WITHIN: Final = 5.0
"""Seconds after which the other processes have seen a change."""
_MIGRATION: Final = "0175_stored_settings"
_SENT_TO: Final[Mapping[str, str]] = {"tmdb_url": "tmdb_key"}
"""The address that each secret is sent to."""
_SQL: Final = Queries("kurabito.settings", "store.sql")

_log = get_logger(__name__)

Hear = Callable[[Settings], object]
Check = Callable[[Connection, Settings, Mapping[str, object]], None]
"""Raises SettingsRefused when the settings do not fit what is in the database; it is told which values are new."""


def stored_settings(local: Settings) -> Settings:
    """The settings with what their database holds, for a process that starts. Nothing is created."""
    if local.database.startswith("memory:"):
        return local
    file = file_of(local.database)
    if file is not None and not file.exists():
        return local
    database = open_database(local.database, create=False)
    database.open()
    try:
        if _MIGRATION in pending(database, PRODUCT):
            return local
        return with_stored(local, database.read_blocking(_stored))
    finally:
        database.close()


class SettingsStore:
    """Reads and changes what the database holds, over the settings that this process was started with."""

    def __init__(
        self, database: Database, local: Settings, clock: Clock | None = None, *, checks: Collection[Check] = ()
    ) -> None:
        self._database = database
        self._local = local
        self._clock = clock or SystemClock()
        self._checks = tuple(checks)
        self._stored: Mapping[str, Any] = {}
        self.current = local
        """The settings as they were when the database was last read."""
        self._listeners: list[Hear] = []

    async def all(self) -> list[Origin]:
        """Every setting, its value and where it came from. Secrets are masked."""
        return explain(await self.refresh())

    async def set(self, name: str, value: object) -> Settings:
        """Store a value; raises InvalidInput that names the setting, or SettingLocked."""
        return await self.change({name: value})

    async def unset(self, name: str) -> Settings:
        """Take a value out of the database, so that the file or the default counts again."""
        return await self.change({}, reset=(name,))

    async def change(self, values: Mapping[str, object], *, reset: Collection[str] = ()) -> Settings:
        """Store these values and take those of `reset` out, all or none.

        Raises SettingsRefused, which says what is wrong with each, InvalidInput for a name that no setting has, or SettingLocked.
        """
        for name in (*values, *reset):
            _check_known(name)
        for name in values:
            self._refuse_locked(name)

        def work(conn: Connection) -> int:
            stored = _stored(conn)
            # Where values are only removed, the stored ones may be those that cannot be used.
            old = with_stored(self._local, stored) if values else self._local
            new = _without_masks(values, old)
            kept = {name: value for name, value in stored.items() if name not in reset}
            checked = _checked(new, merged(self._local, kept | new))
            _refuse_stray_secrets(old, checked, new)
            for check in self._checks:
                check(conn, checked, new)
            removed = sum(conn.run(_SQL.remove, {"name": name}) for name in reset)
            for name in new:
                conn.run(_SQL.store, {"name": name, "value": json.dumps(_plain(checked, name))})
            return removed

        removed = await self._database.write(work)
        if values:
            _log.info("settings changed", settings=sorted(values))
        if removed:
            _log.info("settings reset", settings=sorted(reset))
        return await self.refresh()

    async def refresh(self) -> Settings:
        """The settings as they are now. Listeners hear of them if they changed since the last time."""
        stored = await self._database.read(_stored)
        self.current = with_stored(self._local, stored)
        if stored != self._stored:
            self._stored = stored
            for hear in tuple(self._listeners):
                hear(self.current)
        return self.current

    @contextmanager
    def listen(self, hear: Hear) -> Iterator[None]:
        """Call `hear` with the settings after each change, while the block runs. It must be quick and not raise."""
        self._listeners.append(hear)
        try:
            yield
        finally:
            self._listeners.remove(hear)

    async def run(self) -> None:
        """See what other processes changed, until cancelled."""
        never = asyncio.Event()
        while True:
            await self._clock.wait(never, SEEN_WITHIN)
            try:
                await self.refresh()
            except KurabitoError as problem:
                _log.warning("the stored settings could not be read", problem=str(problem))

    def _refuse_locked(self, name: str) -> None:
        if name in LOCAL:
            raise SettingLocked(
                f"{name} cannot be in the database: set {variable(name)}, or {name} in the file that {PREFIX}CONFIG names"
            )
        given = source_of(self._local, name)
        if outranks_database(given):
            raise SettingLocked(f"{name} is set by {given.where}, which wins over the database; change it there")


def _stored(conn: Connection) -> dict[str, Any]:
    return {name: json.loads(value) for name, value in conn.all(_SQL.stored)}


def _check_known(name: str) -> None:
    if hint := unknown_setting(name):
        raise InvalidInput(name, f"no setting has this name; {hint}")


def _without_masks(values: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """The values without those that came back as they are shown, with their secrets masked: these stay as they are.

    Raises SettingsRefused for one that was changed around the mask: the secret is not known from it.
    """
    masked = {name for name, value in values.items() if isinstance(value, str) and _is_masked(name, value)}
    changed = {name for name in masked if values[name] != shown_value(settings, name)}
    if changed:
        text = f"its secret is shown as {MASK} and is not known from that; type the secret itself"
        raise SettingsRefused({name: SettingProblem(text, Reason(SettingReason.MASKED)) for name in sorted(changed)})
    return {name: value for name, value in values.items() if name not in masked}


def _refuse_stray_secrets(old: Settings, settings: Settings, new: Mapping[str, object]) -> None:
    """Raises SettingsRefused if a secret would be sent to another place than the one that it was given for."""
    for address, secret in _SENT_TO.items():
        is_moved = address in new and place_of(getattr(settings, address)) != place_of(getattr(old, address))
        if is_moved and getattr(old, secret) is not None and secret not in new:
            text = f"{secret} was given for another host and would be sent to this one: give it again with the address"
            reason = Reason(SettingReason.KEY_AGAIN, {"key": secret})
            raise SettingsRefused({address: SettingProblem(text, reason)})


def _is_masked(name: str, value: str) -> bool:
    return value == MASK if is_secret(name) else f":{MASK}@" in value or f"={MASK}" in value


def _checked(values: Mapping[str, object], given: Mapping[str, Given]) -> Settings:
    """The settings with new values for some of them."""
    try:
        return validated(given)
    except ValidationError as error:
        raise SettingsRefused(problems_of(error.errors(include_url=False))) from None
    except ConfigError as problem:
        # The only thing that two settings have to agree on.
        field = next((name for name in RENEWAL if name in values), RENEWAL[0])
        raise SettingsRefused({field: SettingProblem(str(problem), Reason(SettingReason.HEARTBEAT))}) from None


def _plain(settings: Settings, name: str) -> Any:
    """The checked value as JSON has it."""
    value = getattr(settings, name)
    return value.get_secret_value() if isinstance(value, SecretStr) else settings.model_dump(mode="json")[name]
