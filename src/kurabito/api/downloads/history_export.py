"""Entries of the history as a file, written while they are read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final

COLUMNS: Final = (
    "at",
    "kind",
    "series",
    "season",
    "episode",
    "episodes",
    "title",
    "downloader",
    "reason",
    "path",
    "size_bytes",
    "series_id",
    "download_id",
)
_FORMULA: Final = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)
"""What makes a spreadsheet run a cell instead of showing it. Titles come from strangers."""


def safe_cell(value: Any) -> Any:
    """The value of a cell, which no spreadsheet takes for a formula.

    >>> safe_cell("=1+1"), safe_cell(-3), safe_cell(None)
    ("'=1+1", -3, '')
    """
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA) else value


def csv_lines(entries: Iterable[Mapping[str, Any]], *, heading: bool) -> str:
    """Entries as lines of CSV."""
    out = io.StringIO()
    writer = csv.writer(out)
    if heading:
        writer.writerow(COLUMNS)
    writer.writerows([safe_cell(entry[name]) for name in COLUMNS] for entry in entries)
    return out.getvalue()


async def as_csv(entries: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[str]:
    """A line for each entry, below the names of the columns."""
    yield csv_lines((), heading=True)
    async for entry in entries:
        yield csv_lines((entry,), heading=False)


async def as_json(entries: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[str]:
    """One list, an entry on each line."""
    before = "[\n"
    async for entry in entries:
        yield before + json.dumps(entry, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"
