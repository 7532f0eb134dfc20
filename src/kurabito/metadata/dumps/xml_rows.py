"""The elements of a large XML file, one at a time. A file that defines entities is refused: names need none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final, NamedTuple
from xml.parsers import expat

from kurabito.errors import InvalidInput

_CHUNK: Final = 1 << 16
_LARGEST_ELEMENT: Final = 1 << 20
"""Letters and elements in one element; the largest real one has some thousands."""


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
        except InvalidInput:
            raise
        except (expat.ExpatError, ValueError, LookupError) as error:
            # The others are of encodings that the parser does not know.
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
        self._size = 0
        """Of the element that is open."""

    def take(self) -> list[XmlNode]:
        complete, self._complete = self._complete, []
        return complete

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._open or tag == self._tag:
            self._grow(1 + sum(map(len, attributes.values())))
            self._open.append(XmlNode(tag, attributes, [], []))

    def end(self, _tag: str) -> None:
        if not self._open:
            return
        node = self._open.pop()
        if self._open:
            self._open[-1].children.append(node)
        else:
            self._complete.append(node)
            self._size = 0

    def add_text(self, text: str) -> None:
        if self._open:
            self._grow(len(text))
            self._open[-1].text.append(text)

    def _grow(self, by: int) -> None:
        self._size += by
        if self._size > _LARGEST_ELEMENT:
            raise InvalidInput(
                "file", f"has a <{self._tag[:40]}> of more than {_LARGEST_ELEMENT >> 20} MB; it is not read"
            )


def _refuse_doctype(name: str, *_: object) -> None:
    raise InvalidInput("file", f"defines a document type ({name[:40]}), which no list of titles needs; it is not read")
