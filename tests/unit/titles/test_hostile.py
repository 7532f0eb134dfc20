"""Titles that were made to hurt, or that no person would write: they are read in bounded time, and nothing is raised."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

from kurabito import titles
from kurabito.titles import LONGEST_TITLE, parse_title
from kurabito.titles.numbers import LARGEST_RANGE, read_run
from kurabito.titles.text import normalise

HOSTILE = {
    "opening brackets": "[" * 2000,
    "nested brackets": "[" * 2000 + "]" * 2000,
    "empty brackets": "[]" * 2000,
    "many brackets": "[a]" * 2000,
    "mixed brackets": "[(" * 1000 + ")]" * 1000,
    "only ordinals": "第" * 50_000,
    "chinese numbers": "第一二三四五六七" * 5000,
    "endless range": "01-" * 30_000,
    "dashed numbers": " - 01" * 5000,
    "100 KB": "A" * 100_000,
    "blanks": " " * 100_000 + "x",
    "dots": "." * 5000,
    "folders": "a/" * 5000 + ".mkv",
    "slashes": "/" * 5000 + ".mkv",
    "seasons": "S01-" * 5000,
    "listed seasons": "Season 1, " * 5000,
    "episodes": "E01" * 5000,
    "crosses": "1x" * 5000,
    "digits": "1" * 5000,
    "years": "2001 " * 3000,
    "tags": "web " * 3000,
    "sites": "[a.com]" * 500,
    "one letter that becomes eighteen": "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 1000,
    "NULs": "\x00" * 5000 + "[a] b - 01",
    "our own marks": "\x00\x01\x02[a] b\x00 - 01\x01",
    "half a surrogate pair": "\ud800[a] b - 01\udfff",
    "right to left": "\u202e[a] b - 01\u202c\u200f",
    "nothing": "",
    "a blank": " ",
    "only punctuation": "- . _ / | [ ] ( )",
}


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for found in pkgutil.iter_modules(titles.__path__):
        module = importlib.import_module(f"kurabito.titles.{found.name}")
        for name, value in vars(module).items():
            nested = [one for row in value for one in row] if name == "_PATTERNS" else [value]
            yield from ((f"{found.name}.{name}", one) for one in nested if isinstance(one, re.Pattern))


def unbounded_inside_unbounded(parsed: object, *, inside: bool = False) -> bool:
    """Whether something that repeats without limit holds something else that does: the shape that backtracks for ever."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and str(parsed[0]) in ("MAX_REPEAT", "MIN_REPEAT"):
        _, most, body = parsed[1]
        endless = most > 100
        return (endless and inside) or unbounded_inside_unbounded(list(body), inside=inside or endless)
    within = getattr(parsed, "data", parsed)
    return isinstance(within, tuple | list) and any(unbounded_inside_unbounded(one, inside=inside) for one in within)


def parsed(pattern: str, flags: int = 0) -> object:
    # The standard library's own reading of a pattern; there is no public way to it.
    parser = importlib.import_module("re._parser")
    return parser.parse(pattern, flags)


@pytest.mark.parametrize("title", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("explain", [False, True])
def test_a_hostile_title_is_read(title: str, explain: bool) -> None:
    found = parse_title(title, explain=explain)

    assert len(found.episodes) <= LARGEST_RANGE + 100
    assert all("\x00" not in name and "\x01" not in name for name in found.titles)


@pytest.mark.parametrize("title", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_more_than_the_longest_title_is_looked_at(title: str) -> None:
    assert len(normalise(title)) <= LONGEST_TITLE


def test_what_is_behind_the_longest_title_changes_nothing() -> None:
    title = "[Kura] Koji - 07 [1080p]".ljust(LONGEST_TITLE)

    assert parse_title(title + " - 99 [720p]") == parse_title(title)


def test_invisible_characters_change_nothing() -> None:
    assert parse_title("[Ku\u200bra]\u202e Koji\x00 - 07\ufeff [1080p]") == parse_title("[Kura] Koji - 07 [1080p]")


def test_a_range_that_is_too_long_is_no_range() -> None:
    run = read_run("1-99999", 0)

    assert run is not None
    assert run.numbers == (1,)


@pytest.mark.parametrize(
    ("name", "pattern"), list(patterns()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_pattern_can_backtrack_without_limit(name: str, pattern: re.Pattern[str]) -> None:
    assert not unbounded_inside_unbounded(parsed(pattern.pattern, pattern.flags)), name


def test_the_check_of_patterns_sees_what_it_looks_for() -> None:
    assert unbounded_inside_unbounded(parsed("(a+)+b"))
    assert unbounded_inside_unbounded(parsed("(?:x|(?:ab*)c)*"))
    assert not unbounded_inside_unbounded(parsed("a+b+(?:cd{2,3})*"))
