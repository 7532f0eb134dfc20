"""The form that asks for a plan: which copy to keep, what never to touch, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.errors import InvalidInput
from kurabito.library.deletion.rules import KeepRule, KeepRules, Preference, ProtectedFolder
from kurabito.library.libraries import Library
from kurabito.protocol.deletion import DeleteMode
from kurabito.reasons import InputReason, refused
from kurabito.web.forms import Form, one_of

_IN_LIBRARY: Final = f"{KeepRule.IN_LIBRARY}:"
_CHOSEN: Final = "chosen"
_STAYS: Final = "stays-"
"""What the field of a group's kept copy begins with; the group follows."""


@dataclass(frozen=True, slots=True)
class PlanForm(Form):
    """The fields as they are shown: as they were filled in, and which of them was refused."""

    FIELDS = ("mode", "group", "keep", "protected", "stays")

    def mode(self) -> DeleteMode:
        """What becomes of the other copies."""
        return one_of(DeleteMode, "mode", self.value("mode") or DeleteMode.TRASH)

    def group_keys(self) -> Sequence[str] | None:
        """The groups that it is about; None for all."""
        if self.value("scope") != _CHOSEN:
            return None
        chosen = self.values("group")
        if not chosen:
            problem = "choose at least one group, or take all of them"
            raise InvalidInput("group", problem, refused(InputReason.NONE_CHOSEN))
        return chosen

    def rules(self, libraries: Sequence[Library]) -> KeepRules:
        """What is kept; raises InvalidInput naming the field."""
        lines = [line.strip() for line in self.value("protected").splitlines()]
        return KeepRules(
            (self.preference(),),
            tuple(_protected(line, libraries) for line in lines if line),
            tuple(self._chosen_copies()),
        )

    def preference(self) -> Preference:
        """The rule where no copy was chosen; raises InvalidInput."""
        return _preference(self.value("keep") or KeepRule.OLDEST)

    def _chosen_copies(self) -> Iterator[int]:
        """The copies that were clicked. What the rule keeps anyway is sent empty, and what belongs to no plan does not count."""
        groups = self.group_keys()
        for name in self.typed:
            key = name.removeprefix(_STAYS)
            if key == name or (groups is not None and key not in groups) or not (number := self.value(name)):
                continue
            if not number.isascii() or not number.isdigit() or len(number) > 18:
                raise InvalidInput("stays", f"{number!r} is no file", refused(InputReason.CHOICE))
            yield int(number)


def _preference(text: str) -> Preference:
    """A rule as the form sends it: its name, and `in_library:3` for the one that is about a library."""
    number = text.removeprefix(_IN_LIBRARY)
    if number != text and number.isascii() and number.isdigit() and len(number) < 19:
        return Preference(KeepRule.IN_LIBRARY, int(number))
    try:
        return Preference(KeepRule(text))
    except ValueError:
        raise InvalidInput("keep", f"there is no rule {text!r}", refused(InputReason.CHOICE)) from None


def _protected(line: str, libraries: Sequence[Library]) -> ProtectedFolder:
    folder = Path(line)
    if ".." not in folder.parts:
        for library in libraries:
            if folder.is_relative_to(library.path):
                below = folder.relative_to(library.path).as_posix()
                return ProtectedFolder(library.id, "" if below == "." else below)
    problem = f"{line} lies in no library; write whole paths like /srv/media/best, one on each line"
    raise InvalidInput("protected", problem, refused(InputReason.OUTSIDE_LIBRARIES, path=line))
