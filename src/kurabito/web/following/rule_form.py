"""The form that asks for a title rule: a draft made from a title, what was typed, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kurabito.catalog.rules import checked
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.titles import TitleRule, parse_title
from kurabito.titles.text import normalise
from kurabito.web.forms import Form, line_of

ASKED: Final = ("title", "season", "episodes", "group")
"""The fields that most rules are about."""
RARELY_ASKED: Final = ("version", "resolution", "source", "languages", "year", "kind", "is_batch")
_LONGEST_NAME: Final = 60
_LONGEST_VALUE: Final = 200
_SPECIAL: Final = re.compile(r"([\\.^$|?*+()\[\]{}])")
_NUMBER: Final = re.compile(r"\d+")
_UNNAMED: Final = "…"


@dataclass(frozen=True, slots=True)
class RuleForm(Form):
    """The fields as they are shown."""

    FIELDS = ("name", "condition", "parse")

    @classmethod
    def about(cls, title: str) -> RuleForm:
        """A draft for titles like this one: the same, but for the number of the episode."""
        # Rules are matched with what is left of a title when widths, brackets and blanks are the usual ones.
        before, after = _around_episode(normalise(title))
        if after is None:
            return cls({"about": title, "name": title[:_LONGEST_NAME], "condition": _literal(before), "parse": ""})
        return cls(
            {
                "about": title,
                "name": title[:_LONGEST_NAME],
                "condition": rf"{_literal(before)}\d+{_literal(after)}",
                "parse": rf"{_literal(before)}(?P<episodes>\d+)",
            }
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to try yet."""
        return not any(self.value(name).strip() for name in ("condition", "parse"))

    def draft(self) -> TitleRule:
        """The rule as it is so far, to be tried; raises InvalidInput naming what is wrong in it."""
        return self._rule(self.value("name").strip() or _UNNAMED)

    def rule(self) -> TitleRule:
        """The rule, to be kept; raises InvalidInput naming what is wrong in it."""
        return self._rule(line_of("name", self.value("name")))

    def _rule(self, name: str) -> TitleRule:
        fields = {each: self.value(f"fields.{each}").strip() for each in (*ASKED, *RARELY_ASKED)}
        for each, text in {**fields, "condition": self.value("condition"), "parse": self.value("parse")}.items():
            if not text.isprintable() or (each in fields and len(text) > _LONGEST_VALUE):
                where = f"fields.{each}" if each in fields else each
                problem = f"must be a text that can be seen, of {_LONGEST_VALUE} characters at most"
                raise InvalidInput(where, problem, refused(InputReason.TEXT, most=_LONGEST_VALUE))
        return checked(
            name=name,
            condition=self.value("condition"),
            parse=self.value("parse"),
            fields={each: text for each, text in fields.items() if text},
        )


def _around_episode(title: str) -> tuple[str, str | None]:
    """What stands before and after the number of the episode; None when there is no number to be it."""
    numbers = list(_NUMBER.finditer(title))
    if not numbers:
        return title, None
    episodes = parse_title(title).episodes
    found = next((number for number in numbers if episodes and int(number[0]) == episodes[0]), numbers[-1])
    return title[: found.start()], title[found.end() :]


def _literal(text: str) -> str:
    """A pattern that matches this text and no other."""
    return _SPECIAL.sub(r"\\\1", text)
