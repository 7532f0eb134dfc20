"""Options, environment and file, merged into settings; and the values of the database laid over them."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kurabito.errors import ConfigError
from kurabito.folders import default_state
from kurabito.logs import MASK, mask_text
from kurabito.settings.effects import LOCAL
from kurabito.settings.model import Given, Place, Settings
from kurabito.settings.origins import is_secret, outranks_database, source_of

PREFIX: Final = "KURABITO_"
FILE_NAME: Final = "kurabito.toml"
# The name that downloaders' users know it by.
_OWN_VARIABLES: Final = {"download_poll_interval": "DOWNLOAD_POLL_INTERVAL"}


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return _OWN_VARIABLES.get(name, PREFIX + name.upper())


def load(**given: Any) -> Settings:
    """Read the settings; `given` (from command-line options, None when absent) beats every other place."""
    options = {name: value for name, value in given.items() if value is not None}
    environment = {name: os.environ.get(variable(name), "") for name in Settings.model_fields}
    environment = {name: value for name, value in environment.items() if value}
    file, in_file = _read_file(Path(options.get("state") or environment.get("state") or default_state()))
    found = {name: Given(value, Place.FILE, str(file)) for name, value in in_file.items()}
    found |= {name: Given(value, Place.ENVIRONMENT, variable(name)) for name, value in environment.items()}
    found |= {name: Given(value, Place.OPTION, f"option --{name.replace('_', '-')}") for name, value in options.items()}
    return settings_of(found)


def with_stored(settings: Settings, stored: Mapping[str, Any]) -> Settings:
    """The settings with the database's values, where neither an option nor the environment has one."""
    applied = merged(settings, stored)
    if applied == settings._given:
        return settings
    try:
        return settings_of(applied)
    except ConfigError as problem:
        raise ConfigError(f"{problem}; `kurabito config unset NAME` removes what the database has") from None


def merged(settings: Settings, stored: Mapping[str, Any]) -> dict[str, Given]:
    """What was given for the settings, and by the database where it counts."""
    return settings._given | {
        name: Given(value, Place.DATABASE, Place.DATABASE.value)
        for name, value in stored.items()
        # A name may be of another version of the program.
        if name in Settings.model_fields and name not in LOCAL and not outranks_database(source_of(settings, name))
    }


def settings_of(given: Mapping[str, Given]) -> Settings:
    """The settings of these values; raises ConfigError that names the setting and where its value came from."""
    try:
        settings = validated(given)
    except ValidationError as error:
        raise ConfigError("; ".join(_problems(error, given))) from None
    settings._given.update(given)
    return settings


def validated(given: Mapping[str, Given]) -> Settings:
    """The settings of these values, without knowledge of where they came from; raises pydantic's own error."""
    return Settings(**{name: each.value for name, each in given.items()})


def message_of(problem: ErrorDetails) -> str:
    """What pydantic has against a value, in a sentence."""
    return problem["msg"].removeprefix("Value error, ")


def unknown_setting(name: str) -> str | None:
    """What to say of a name that no setting has; None where one has it."""
    if name in Settings.model_fields:
        return None
    close = difflib.get_close_matches(name, Settings.model_fields, n=1)
    return f"did you mean {close[0]}?" if close else "`kurabito config` lists the settings."


def _read_file(state: Path) -> tuple[Path, Mapping[str, Any]]:
    named = os.environ.get(PREFIX + "CONFIG", "")
    path = Path(named).expanduser() if named else state.expanduser() / FILE_NAME
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if named:
            raise ConfigError(f"{path}, named by {PREFIX}CONFIG, does not exist") from None
        return path, {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    for key in content:
        if hint := unknown_setting(key):
            raise ConfigError(f"{path} has an unknown setting: {key}; {hint}")
    if "state" in content and not named:
        raise ConfigError(f"{path} lies in the state folder and cannot move it: set {PREFIX}STATE instead")
    return path, content


def _problems(error: ValidationError, given: Mapping[str, Given]) -> list[str]:
    problems = []
    for problem in error.errors(include_url=False):
        name = str(problem["loc"][0])
        where = given[name].where if name in given else Place.DEFAULT
        value = MASK if is_secret(name) else mask_text(repr(problem["input"]))
        problems.append(f"{name} (from {where}) cannot be {value}: {message_of(problem)}")
    return problems
