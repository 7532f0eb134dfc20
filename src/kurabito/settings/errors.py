"""What the settings store refuses."""

from __future__ import annotations

from kurabito.errors import ConfigError


class SettingLocked(ConfigError):
    """The database cannot change this setting: another place wins, or has to have it."""

    code = "setting_locked"
