"""What the settings store refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kurabito.errors import ConfigError, InvalidInput

if TYPE_CHECKING:
    from kurabito.settings.problems import SettingProblem


class SettingLocked(ConfigError):
    """The database cannot change this setting: another place wins, or has to have it."""

    code = "setting_locked"


class SettingsRefused(InvalidInput):
    """Values that were refused, each with what is wrong with it; nothing was stored."""

    def __init__(self, problems: Mapping[str, SettingProblem]) -> None:
        first, *others = problems.items()
        rest = "".join(f"; {name}: {one.text}" for name, one in others)
        super().__init__(first[0], first[1].text + rest, first[1].reason)
        self.problems = problems

    def __reduce__(self) -> tuple[type[SettingsRefused], tuple[Mapping[str, SettingProblem]]]:  # type: ignore[override]
        return type(self), (self.problems,)
