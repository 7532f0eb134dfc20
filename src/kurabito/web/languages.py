"""The page's languages: catalogues of messages, and which of them a visitor reads.

`locales/` has a TOML file for each part of the page, with a table for each language tag: who adds a page writes its
texts in one file, the languages one below the other. A message is found by its dotted key. It may have placeholders,
`{worker}`, and code between backticks. Every language has the same keys and placeholders.

A message that a number changes has one text for each plural category of its language, as CLDR names them:
`files = { one = "{count} file", other = "{count} files" }`. Its number is the fact `count`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

_FOLDER: Final = Path(__file__).parent / "locales"
_DEFAULT: Final = "en"
# Which script a region writes, for browsers that name only the region.
_TRADITIONAL: Final = frozenset({"tw", "hk", "mo"})
_CODE: Final = re.compile("`([^`]+)`")
_OTHER: Final = "other"
_ONE: Final = "one"

Forms = Mapping[str, str]
"""The texts of one message by plural category; a text that no number changes is under `other`."""


class Catalogue:
    """The messages of one language."""

    def __init__(self, tag: str, messages: Mapping[str, Forms]) -> None:
        self.tag = tag
        self.messages = messages
        self._category = _PLURALS.get(tag, _never_changes)
        self._markup = {
            key: {category: with_code(text) for category, text in forms.items()} for key, forms in messages.items()
        }

    @property
    def name(self) -> str:
        """The language in its own words."""
        return self.text("language")

    def has(self, key: str) -> bool:
        return key in self.messages

    def text(self, key: str) -> str:
        """The message as the catalogue has it, for any number."""
        return self.messages[key][_OTHER]

    def say(self, key: str, /, *, count: int | None = None, **facts: object) -> Markup:
        """The message with its facts in place, in the form that `count` asks for.

        Facts are escaped unless they are markup of ours.
        """
        forms = self._markup[key]
        if count is None:
            message = forms[_OTHER]
        else:
            message = forms.get(self._category(count), forms[_OTHER])
            facts["count"] = grouped(count)
        return message.format(**facts) if facts else message


@cache
def catalogues() -> Mapping[str, Catalogue]:
    """Every catalogue by its tag, English first."""
    messages: dict[str, dict[str, Forms]] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        for tag, texts in tomllib.loads(path.read_text(encoding="utf-8")).items():
            messages.setdefault(tag, {}).update(_flat(texts))
    return {tag: Catalogue(tag, messages[tag]) for tag in sorted(messages, key=lambda tag: (tag != _DEFAULT, tag))}


def choose(chosen: str | None, accepted: str) -> Catalogue:
    """The catalogue for a visitor: the one they chose, else the first that their browser accepts."""
    known = catalogues()
    if chosen is not None and chosen in known:
        return known[chosen]
    return next((known[tag] for tag in map(_written, _by_preference(accepted)) if tag in known), known[_DEFAULT])


def grouped(number: int) -> str:
    """A whole number with its digits in groups of three."""
    return f"{number:,}"


def with_code(text: str) -> Markup:
    """The text, escaped, with what stands between backticks set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped in this line


def _one_or_other(count: int) -> str:
    return _ONE if count == 1 else _OTHER


def _never_changes(_count: int) -> str:
    return _OTHER


# The plural category of a number, for languages that have several.
_PLURALS: Final[Mapping[str, Callable[[int], str]]] = {"en": _one_or_other}


def _by_preference(header: str) -> list[str]:
    """The languages of an Accept-Language header, the best liked first."""
    weighted = []
    for entry in header.split(","):
        tag, _, weight = entry.partition(";q=")
        try:
            liked = float(weight) if weight else 1.0
        except ValueError:
            continue
        if liked > 0:
            weighted.append((liked, tag.strip().lower()))
    return [tag for _, tag in sorted(weighted, key=lambda pair: -pair[0])]


def _written(tag: str) -> str:
    """The catalogue that a browser's tag asks for; Chinese is chosen by its script."""
    language, *rest = tag.split("-")
    if language != "zh":
        return language
    traditional = "hant" in rest or ("hans" not in rest and not _TRADITIONAL.isdisjoint(rest))
    return "zh-Hant" if traditional else "zh-Hans"


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Forms]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield prefix + key, {_OTHER: value}
        elif _OTHER in value:
            yield prefix + key, value
        else:
            yield from _flat(value, f"{prefix}{key}.")
