"""The settings of a group as they were typed, and what is wrong at which field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kurabito.settings import Origin
from kurabito.settings.errors import SettingsRefused
from kurabito.settings.fields import FieldKind, SettingField
from kurabito.web.forms import CHECKED, Problem

SHOWN = "shown"
"""The hidden field that names each setting in the form: a box that is not ticked sends nothing."""
BEFORE = "before."
"""The hidden fields that have what each setting was when the form was shown: another page may have changed it meanwhile."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting on the page."""

    field: SettingField
    origin: Origin
    variable: str
    has_trial: bool
    is_pending: bool
    """Its new value waits for a restart."""

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def text(self) -> str:
        """The value as it stands in its field. A secret never does."""
        value = self.origin.value
        if value is None or self.field.kind is FieldKind.SECRET:
            return ""
        if self.field.kind is FieldKind.SWITCH:
            return CHECKED if value else ""
        if isinstance(value, list):
            return ", ".join(value)
        return f"{value:g}" if isinstance(value, float) else str(value)

    @property
    def is_set(self) -> bool:
        return self.origin.value is not None


@dataclass(frozen=True, slots=True)
class SettingsForm:
    """What was typed, and what was refused."""

    typed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)

    def text(self, row: SettingRow) -> str:
        """What stands in the field of a setting. A secret is not written back."""
        if row.field.kind is FieldKind.SECRET:
            return ""
        return self._typed(row.name) if row.name in self.typed.get(SHOWN, ()) else row.text

    def before(self, row: SettingRow) -> str:
        """What the setting was when the form was first shown."""
        return self._typed(BEFORE + row.name) if BEFORE + row.name in self.typed else row.text

    def changes(self, rows: Sequence[SettingRow]) -> dict[str, object]:
        """The values that were changed in the form; an empty secret stays as it is."""
        found: dict[str, object] = {}
        for row in rows:
            if row.name not in self.typed.get(SHOWN, ()):
                continue
            typed = self._typed(row.name)
            if typed not in (row.text, self.before(row)) and not (row.field.kind is FieldKind.SECRET and not typed):
                found[row.name] = _value(row.field, typed)
        return found

    def refused(self, error: SettingsRefused) -> SettingsForm:
        """The same form with what is wrong beside each field."""
        problems = {name: Problem(name, one.text, one.reason) for name, one in error.problems.items()}
        return SettingsForm(self.typed, problems)

    @property
    def status(self) -> int:
        return 422 if self.problems else 200

    def _typed(self, name: str) -> str:
        return (self.typed.get(name) or ("",))[-1].strip()


def _value(field: SettingField, typed: str) -> object:
    """The value that a text stands for; the settings check it."""
    if field.kind is FieldKind.SWITCH:
        return typed == CHECKED
    if not typed and field.may_be_empty and field.kind is not FieldKind.TEXT:
        return [] if field.kind is FieldKind.LIST else None
    if not typed and field.name in _NONE_WHEN_EMPTY:
        return None
    return typed


# Texts that may also be nothing at all, which is not the empty text.
_NONE_WHEN_EMPTY = frozenset({"proxy", "tz"})
