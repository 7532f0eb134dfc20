"""The elements of a large XML file, one at a time. A file that defines entities is refused: names need none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final, NamedTuple
from xml.parsers import expat

from kurabito.errors import InvalidInput

_CHUNK: Final = 1 << 16
_MOST_CHILDREN: Final = 2_000
_LONGEST_TEXT: Final = 4_096


class XmlNode(NamedTuple):
    """An element, its attributes, the text directly in it, and what it contains."""

    tag: str
    attributes: dict[str, str]
    text: list[str]
    children: list[XmlNode]


def read_elements(stream: IO[bytes], tag: str) -> Iterator[XmlNode]:
    """Every element with this tag, as soon as it is complete; raises InvalidInput where the file is broken."""
    collected = _ElementCollector(tag)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = collected.start
    parser.EndElementHandler = collected.end
    parser.CharacterDataHandler = collected.add_text
    while True:
        chunk = stream.read(_CHUNK)
        try:
            parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            raise InvalidInput("file", f"is broken: {error}; download it again") from None
        yield from collected.take()
        if not chunk:
            return


class _ElementCollector:
    """Builds the elements of one tag, and forgets what surrounds them."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._open: list[XmlNode] = []
        self._complete: list[XmlNode] = []

    def take(self) -> list[XmlNode]:
        complete, self._complete = self._complete, []
        return complete

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._open or tag == self._tag:
            self._open.append(XmlNode(tag, attributes, [], []))

    def end(self, _tag: str) -> None:
        if not self._open:
            return
        node = self._open.pop()
        if not self._open:
            self._complete.append(node)
        elif len(self._open[-1].children) < _MOST_CHILDREN:
            self._open[-1].children.append(node)

    def add_text(self, text: str) -> None:
        if self._open and len(self._open[-1].text) < _LONGEST_TEXT:
            self._open[-1].text.append(text[:_LONGEST_TEXT])


def _refuse_doctype(name: str, *_: object) -> None:
    raise InvalidInput("file", f"defines a document type ({name[:40]}), which no list of titles needs; it is not read")
