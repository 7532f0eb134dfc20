"""What `kurabito dedupe` does. No command-line framework, nothing that takes long to load: a second run is over at once."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.dataplane.search.cache import Known
from kurabito.dataplane.search.found import path_of
from kurabito.dataplane.search.roots import roots_of
from kurabito.dataplane.search.search import EqualFiles, Search, SearchProgress
from kurabito.errors import InvalidInput
from kurabito.folders import default_state

DONE: Final = 0
INCOMPLETE: Final = 3
INTERRUPTED: Final = 130

_BETWEEN_LINES: Final = 0.1
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


class Asked(NamedTuple):
    """What the command line asks for."""

    paths: Sequence[Path]
    as_json: bool = False
    state: Path | None = None
    linked: bool = False
    delete: bool = False
    yes: bool = False


def run_if_plain(arguments: Sequence[str]) -> None:
    """Run the command and leave, if it is one that needs no parser: paths, `--json`, `--all` and `--state DIR`."""
    paths: list[Path] = []
    state: Path | None = None
    flags: set[str] = set()
    given = iter(arguments)
    for argument in given:
        if argument == "--state" and (folder := next(given, "")):
            state = Path(folder)
        elif argument in ("--json", "--all"):
            flags.add(argument)
        elif argument.startswith("-") or not argument:
            return
        else:
            paths.append(Path(argument))
    if paths:
        code = run(Asked(paths, "--json" in flags, state, "--all" in flags))
        sys.stdout.flush()
        # Nothing is left to be put in order, and a million files take a while to be forgotten one by one.
        os._exit(code)


def run(asked: Asked) -> int:
    """Search, show, and delete if that was asked for; the exit code."""
    # What a search makes lives until its end, and nothing of it is in a circle.
    gc.disable()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    state = asked.state or Path(os.environ.get("KURABITO_STATE") or default_state())
    progress = _ProgressLine()
    roots = roots_of(asked.paths)
    try:
        with Known(state.expanduser().absolute()) as known:
            search = Search(roots, known, linked=asked.linked, report=progress.show)
            groups = search.run()
    except KeyboardInterrupt:
        progress.clear()
        sys.stderr.write("interrupted; what was read so far is remembered\n")
        return INTERRUPTED
    progress.clear()
    for path, reason in search.problems:
        sys.stderr.write(f"not looked at: {readable(path)}: {reason}\n")
    complete = not search.problems
    if asked.delete:
        complete &= _delete(groups, asked)
    elif asked.as_json:
        _print_json(groups)
    else:
        _print_text(groups, search.progress)
    return DONE if complete else INCOMPLETE


def readable(path: str) -> str:
    """The path without anything that a terminal would obey; bytes that are no text are written out."""
    if path.isprintable():
        return path
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def counted(count: int, noun: str) -> str:
    """A number of things: `1 file`, `2 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_text(size: float) -> str:
    """A number of bytes as people say it."""
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


class _ProgressLine:
    """One line on a terminal that is written over again and again; nothing where there is no terminal."""

    def __init__(self) -> None:
        self._next = 0.0
        self._shown = False
        self._terminal = sys.stderr.isatty()

    def show(self, progress: SearchProgress) -> None:
        if not self._terminal or (now := time.monotonic()) < self._next:
            return
        self._next, self._shown = now + _BETWEEN_LINES, True
        doing = "looking" if progress.looking else "reading"
        sys.stderr.write(
            f"\r\x1b[K{doing}: {progress.files:,} files, {size_text(progress.bytes)}; read {progress.read:,} times"
        )
        sys.stderr.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


def _print_json(groups: Sequence[EqualFiles]) -> None:
    from json.encoder import encode_basestring_ascii as quoted

    # In ASCII a name that is no text survives: its bytes are escaped as Python and others read them back. Each group is
    # written out here, because an encoder that could write anything takes three times as long.
    lines = [
        f'{{"group_key": "{group.key}", "size_bytes": {group.size}, "files": [{", ".join(map(quoted, group.paths))}]}}'
        for group in groups
    ]
    sys.stdout.write("[" + ",\n".join(lines) + "]\n")


def _print_text(groups: Sequence[EqualFiles], progress: SearchProgress) -> None:
    lines = []
    for group in groups:
        lines.append(
            f"{counted(len(group.paths), 'file')} of {size_text(group.size)}, {size_text(group.waste)} too many"
        )
        lines += [f"    {readable(path)}" for path in group.paths]
        lines.append("")
    waste = sum(group.waste for group in groups)
    lines.append(
        f"{counted(len(groups), 'duplicate group')} in {counted(progress.files, 'file')} ({size_text(progress.bytes)}); "
        f"{size_text(waste)} reclaimable"
    )
    sys.stdout.write("\n".join(lines) + "\n")


def _delete(groups: Sequence[EqualFiles], asked: Asked) -> bool:
    """Show what would go, ask, and do it; false when some copies could not be removed."""
    from datetime import datetime

    from kurabito.dataplane.removal.file_refs import RemovalRefused
    from kurabito.dataplane.search.surplus import SurplusTrash, plan

    removals = list(plan(groups))
    count, freed = sum(len(removal.surplus) for removal in removals), sum(removal.freed for removal in removals)
    for removal in removals:
        sys.stdout.write(f"keep    {readable(path_of(removal.kept))}\n")
        for file in removal.surplus:
            sys.stdout.write(f"remove  {readable(path_of(file))}\n")
    if not removals:
        sys.stdout.write("Nothing to remove.\n")
        return True
    if not asked.yes and not _agrees(f"Move {counted(count, 'file')} ({size_text(freed)}) into the trash? [y/N] "):
        sys.stdout.write("Nothing was removed.\n")
        return True
    trash = SurplusTrash(datetime.now().astimezone())
    refused = 0
    for removal in removals:
        for file in removal.surplus:
            try:
                trash.take(file, removal.kept)
            except RemovalRefused as problem:
                refused += 1
                sys.stderr.write(f"{readable(str(problem))}\n")
    for folder, files in trash.folders.items():
        sys.stdout.write(f"Moved {counted(files, 'file')} to {readable(folder)}\n")
    if trash.folders:
        sys.stdout.write("Move files back from there to keep them; delete that folder to free the space.\n")
    else:
        sys.stdout.write("Nothing was removed.\n")
    return not refused


def _agrees(question: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "--yes", "there is no terminal to ask on; check what would go without --delete, then add --yes"
        )
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
