"""Looks at a library after the core or a data plane was killed: knows each content, and nothing of Kurabito.

Reads lines of JSON: the `library`; `sources`, the downloaded files with the SHA-256 of each; `kept`, the contents that the library
has to have; and `end`, once everything has to be over: the names that it shows, each with the contents that it may have. Answers
each line with what is wrong, as a list of JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

TRASH = ".kurabito-trash"


def content_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def is_note(path: Path) -> bool:
    """What says where a file in the trash came from."""
    return TRASH in path.parts and path.suffix == ".json"


def is_own(path: Path) -> bool:
    """A name that a file has for a moment."""
    return path.name.startswith(".kurabito-") or (TRASH in path.parts and bool(path.suffix))


def faults(given: dict[str, Any]) -> Iterator[str]:
    library, sources = Path(given["library"]), given["sources"]
    yield from (f"download changed: {path}" for path, known in sources.items() if content_of(Path(path)) != known)
    files = {path: content_of(path) for path in library.rglob("*") if path.is_file() and not is_note(path)}
    yield from (
        f"half there: {path}" for path, found in files.items() if not is_own(path) and found not in sources.values()
    )
    there = Counter(files.values())
    yield from (f"lost: {content}" for content in given["kept"] if not there[content])
    if (end := given.get("end")) is not None:
        yield from (f"left over: {path}" for path in files if is_own(path))
        yield from (f"doubled: {content}" for content, count in there.items() if count > 1)
        shown = {str(path.relative_to(library)): found for path, found in files.items() if TRASH not in path.parts}
        yield from (f"not as it should be: {name}" for name in end.keys() ^ shown.keys())
        yield from (f"not what it should be: {name}" for name in end.keys() & shown if shown[name] not in end[name])


for line in sys.stdin:
    sys.stdout.write(json.dumps(list(faults(json.loads(line)))) + "\n")
    sys.stdout.flush()
