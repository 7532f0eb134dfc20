"""Writes the generated parts of the documentation: docs.py [--check]

A part stands between two markers and is replaced as a whole; everything around it is written by hand.

    <!-- generated: settings -->
    …
    <!-- end of generated part -->

With --check nothing is written: the pages that are not up to date are named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from kurabito.cli import commands as cli
from kurabito.conformance.checks import CHECKS
from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.errors import KurabitoError
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.external import WORKERS
from kurabito.protocol.rights import DATA_PLANE
from kurabito.protocol.rules import SECTIONS, section
from kurabito.protocol.rules import rules as all_rules
from kurabito.protocol.tables import TABLES, Table
from kurabito.runtime.events import EVENTS, FACTS
from kurabito.settings import Settings, variable
from kurabito.settings.effects import LIVE, LOCAL
from kurabito.site.errors import status_of_kind

ROOT: Final = Path(__file__).resolve().parents[1]
# The faults that the conformance kit was tried with lie among the tests.
sys.path.append(str(ROOT))
_PART: Final = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end of generated part -->)", re.DOTALL)
_EXAMPLES: Final = "Examples:"
# Typer's words for what an option takes, in ours; an argument's own name says enough.
_KINDS: Final = {"<str>": " TEXT", "<int range>": " N", "<float range>": " SECONDS"}
_WIDTH: Final = 120
# What depends on the machine is told in words.
_DEFAULTS: Final = {
    "state": "`~/.local/share/kurabito`",
    "database": "`kurabito.db` in the state folder",
}


def settings() -> str:
    """Every setting, its variable, its default and its meaning."""
    rows = [
        (
            f"`{name}`",
            f"`{variable(name)}`",
            _default(name, field.default),
            "never" if name in LOCAL else "at once" if name in LIVE else "at the next start",
            _cell(field.description or ""),
        )
        for name, field in Settings.model_fields.items()
    ]
    return _table(("in `kurabito.toml`", "in the environment", "default", "from the database", "meaning"), rows)


def commands() -> str:
    """Every command with its arguments and options."""
    root: Any = typer.main.get_command(cli.app)
    return "\n\n".join(_command("kurabito", root, None, level=2))


def events() -> str:
    """The eight events and the values that a fact of each carries."""
    rows = [
        (f"`{name}`", ", ".join(f"`{value}`" for value in FACTS[name]) or "none", _cell((kind.__doc__ or "").strip()))
        for name, kind in EVENTS.items()
    ]
    return _table(("name", "values after id and type", "meaning"), rows)


def rules() -> str:
    """The rules of the protocol, section by section."""
    return "\n\n".join(_wrapped(section(name)) for name in SECTIONS)


def worker_rules() -> str:
    """The rules for external workers, section by section."""
    return "\n\n".join(_wrapped(WORKERS.section(name)) for name in WORKERS.sections)


def ddl() -> str:
    """The tables of the protocol as SQLite has them after every migration, with their indexes, triggers and the view."""
    wanted = [table.name for table in TABLES]
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{folder}/kurabito.db")
        database.open()
        migrate(database, PRODUCT)
        rows = database.read_blocking(
            lambda conn: conn.all("SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        )
        database.close()
    made = [text for table in [*wanted, "hashed_files"] for name, text in rows if name == table]
    return "```sql\n" + "\n\n".join(f"{text};" for text in made) + "\n```"


def protocol() -> str:
    """The tables of the two planes: columns, legal values, and which path writes what."""
    return "\n\n".join(section for table in TABLES for section in _told(table))


def codes() -> str:
    """Every error code. The text below a member of an enum is not kept, so it is read from the source."""
    source = inspect.getsource(ErrorCode)
    meanings = re.findall(r'(\w+) = "\w+"\n    """(.*?)"""', source, re.DOTALL)
    assert [name for name, _ in meanings] == list(ErrorCode)
    return _table(("code", "meaning"), [(f"`{name}`", _cell(meaning)) for name, meaning in meanings])


def rights() -> str:
    """What the database lets a data plane do besides reading."""
    updated = [
        (f"`{table}`", ", ".join(f"`{column}`" for column in sorted(columns)))
        for table, columns in sorted(DATA_PLANE.update.items())
    ]
    return (
        _table(("table", "columns that may be updated"), updated)
        + f"\n\nRows may be inserted into {_listed(DATA_PLANE.insert)} and deleted from {_listed(DATA_PLANE.delete)}."
    )


def conformance() -> str:
    """Which checks look at each rule, and the faults that they were seen to catch."""
    from tests.conformance.planes.faults import FAULTS

    rows = []
    for rule in all_rules():
        checks = [one.name for one in CHECKS if one.rule == rule]
        faults = [name for name, fault in FAULTS.items() if fault.rule == rule]
        if checks:
            rows.append((rule, "; ".join(dict.fromkeys(checks)), "; ".join(faults)))
    return _table(("rule", "checks", "planes that break it"), rows)


def errors() -> str:
    """The tree of errors: each with its code, how HTTP calls it, and its meaning."""
    for branch in sorted((ROOT / "src" / "kurabito").glob("*/errors.py")):
        importlib.import_module(f"kurabito.{branch.parent.name}.errors")
    drawn = [(branch + kind.__name__, kind) for branch, kind in _branches(KurabitoError)]
    width = max(len(name) for name, _ in drawn)
    lines = [f"{name:<{width}}  {status_of_kind(kind)}  {kind.code:<24}  {_meaning(kind)}" for name, kind in drawn]
    return "```text\n" + "\n".join(lines) + "\n```"


def _branches(kind: type[KurabitoError], name: str = "", below: str = "") -> Iterator[tuple[str, type[KurabitoError]]]:
    """Each error below the first class that it is derived from, in the order of the files."""
    yield name, kind
    kinds = [one for one in kind.__subclasses__() if one.__bases__[0] is kind and one.__module__.endswith(".errors")]
    kinds.sort(key=lambda one: (one.__module__.count("."), one.__module__, inspect.getsourcelines(one)[1]))
    for one in kinds:
        is_last = one is kinds[-1]
        corner, beside = ("└── ", "    ") if is_last else ("├── ", "│   ")
        yield from _branches(one, below + corner, below + beside)


def _meaning(kind: type[KurabitoError]) -> str:
    told = (kind.__doc__ or "").strip().removesuffix(".")
    where = kind.__module__.removesuffix(".errors")
    is_first = kind is not KurabitoError and kind.__bases__[0].__module__ != kind.__module__
    return f"{told} ({where})" if is_first else told


def _told(table: Table) -> Iterator[str]:
    yield f"### `{table.name}`"
    yield table.purpose
    yield _table(("column", "meaning"), [(f"`{name}`", _cell(meaning)) for name, meaning in table.columns.items()])
    for column, values in table.values.items():
        if values is not ErrorCode:
            yield f"Legal values of `{column}`: {', '.join(f'`{value}`' for value in values)}."
    if table.lease is not None:
        paths = [
            (path, ", ".join(f"`{column}`" for column in sorted(columns)))
            for path, columns in table.lease.writes.items()
        ]
        yield f"It is leased: claimable when `{table.lease.claimable}`, in the order `{table.lease.order}`."
        yield _table(("path", "columns that it may write"), paths)


def _listed(tables: frozenset[str]) -> str:
    return ", ".join(f"`{table}`" for table in sorted(tables))


PARTS: Final[dict[str, Callable[[], str]]] = {
    "settings": settings,
    "commands": commands,
    "events": events,
    "rules": rules,
    "worker_rules": worker_rules,
    "protocol": protocol,
    "ddl": ddl,
    "codes": codes,
    "rights": rights,
    "conformance": conformance,
    "errors": errors,
}


def rendered(page: str) -> str:
    """The page with its generated parts as they should be."""
    return _PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}", page)


def pages() -> Iterator[Path]:
    """The pages that have generated parts."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if _PART.search(page.read_text(encoding="utf-8")):
            yield page


def stale() -> list[Path]:
    """The pages that are not up to date."""
    return [page for page in pages() if (text := page.read_text(encoding="utf-8")) != rendered(text)]


def _command(name: str, command: Any, parent: Any, level: int) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    yield f"{'#' * level} `{context.command_path}`"
    told, _, examples = (command.help or "").partition(_EXAMPLES)
    yield _paragraphs(told)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    if examples.strip():
        lines = [line.strip() for line in examples.splitlines() if line.strip()]
        yield "For example:\n\n```sh\n" + "\n".join(lines) + "\n```"
    rows = [_option(name, meaning) for name, meaning in _records(command, context)]
    if rows:
        yield _table(("argument or option", "meaning"), rows)
    for inner in getattr(command, "commands", {}).values():
        yield from _command(inner.name, inner, context, level + 1)


def _records(command: Any, context: Any) -> list[tuple[str, str]]:
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    return [record for record in records if record is not None and "--help" not in record[0]]


def _option(name: str, meaning: str) -> tuple[str, str]:
    kinds = _KINDS if name.startswith("-") else {}
    shown = re.sub(r" <[\w\[\]]+( range)?>$", lambda found: kinds.get(found[0].strip(), ""), name)
    return f"`{_cell(shown)}`", _cell(meaning)


def _paragraphs(text: str) -> str:
    """The text of a docstring, each paragraph on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _wrapped(text: str) -> str:
    """Paragraphs and lists at the width of our pages; tables, headings and code stay as they are."""
    blocks = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(block if block.startswith("```") else _wrapped_prose(block) for block in blocks)


def _wrapped_prose(text: str) -> str:
    lines: list[str] = []
    for paragraph in re.split(r"(\n\n)|\n(?=\||#|- |\d+\. )", text):
        if not paragraph or paragraph.startswith(("\n", "|", "#")):
            lines.append(paragraph or "\n")
            continue
        found = re.match(r"- |\d+\. ", paragraph)
        indent = " " * len(found[0]) if found else ""
        words = " ".join(paragraph.split())
        lines.append(
            textwrap.fill(words, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        )
    return "".join(lines)


def _default(name: str, value: object) -> str:
    if name in _DEFAULTS:
        return _DEFAULTS[name]
    if value is None or value == ():
        return "none"
    return f"`{value}`" if value != "" else "empty"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    """Write the pages, or say which would change."""
    parser = argparse.ArgumentParser(description="Writes the generated parts of the documentation again.")
    parser.add_argument("--check", action="store_true", help="write nothing; name the pages that are not up to date")
    only_check = parser.parse_args().check
    outdated = stale()
    for page in outdated:
        if only_check:
            print(f"{page.relative_to(ROOT)} is not up to date: run `make docs`", file=sys.stderr)
            continue
        page.write_text(rendered(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"==> {page.relative_to(ROOT)}")
    return 1 if outdated and only_check else 0


if __name__ == "__main__":
    sys.exit(main())
