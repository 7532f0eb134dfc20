"""From the text of a feed to its items, one by one.

The items are cut out of the text first, and each is read alone. So one that is broken takes no other with it, a feed
that breaks off gives what came before, and there is no place for a document type: entities that grow without end, or that
name files and other hosts, cannot be declared inside an item. Expat, which is strict, reads the pieces.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import html5
from typing import Final, NamedTuple
from xml.parsers import expat

_EDGE: Final = re.compile(
    r"<!\[CDATA\[|<!--|<(?P<end>/?)(?:[\w.-]{1,40}:)?(?P<name>item|entry)(?=[\s/>])[^<>]{0,2000}>", re.IGNORECASE
)
_CDATA: Final = ("<![CDATA[", "]]>")
_REFERENCE: Final = re.compile(r"&(?:#(?P<number>[0-9]{1,7}|x[0-9a-f]{1,6});|(?P<name>[a-z][a-z0-9]{1,30});)?", re.I)
_OF_XML: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_TEXTS: Final = ("title", "description", "summary", "content", "content:encoded")
_CONTROL: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, 0xFFFE, 0xFFFF))
_MAGNET: Final = re.compile(r"""magnet:\?[^\s"'<>]{1,8000}""", re.IGNORECASE)
_LARGEST_ITEM: Final = 1024 * 1024
_DEEPEST_FIELD: Final = 3


class Piece(NamedTuple):
    """The text of one item, from its first tag to its last."""

    text: str
    is_whole: bool


@dataclass(slots=True)
class FeedField:
    """An element inside an item, or one level deeper. Names are in lower case and without prefix."""

    name: str
    attributes: dict[str, str]
    inside: str | None = None
    """The field around it."""
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts).strip()


class Malformed(ValueError):
    """A piece that cannot be read, and why."""


def pieces(text: str) -> Iterator[Piece]:
    """The items in the text; one that was begun and has no end is not whole."""
    at, begun = 0, None
    asides = _Asides(text)
    while edge := _EDGE.search(text, at):
        at = edge.end()
        if not edge["name"]:
            at = asides.after(edge)
        elif edge["end"]:
            if begun is not None:
                yield Piece(text[begun:at], True)
            begun = None
        else:
            if begun is not None:
                yield Piece(text[begun : edge.start()], False)
            begun = None if edge[0].endswith("/>") else edge.start()
    if begun is not None:
        yield Piece(text[begun:], False)


def fields(piece: str) -> list[FeedField]:
    """The elements of an item; raises Malformed."""
    if len(piece) > _LARGEST_ITEM:
        raise Malformed(f"it is larger than {_LARGEST_ITEM:,} characters")
    mended = _mended(piece)
    try:
        return _read(mended)
    except expat.ExpatError:
        # Most of what is malformed is HTML that was written into a text as it is.
        try:
            return _read(_with_plain_texts(mended))
        except expat.ExpatError as error:
            raise Malformed(f"it is not well-formed: {expat.errors.messages[error.code]}") from None


def magnet_in(piece: str) -> str | None:
    """The first magnet link anywhere in an item."""
    if "magnet:" not in piece:
        return None
    # Once for XML and once for the HTML that stands in it.
    found = _MAGNET.search(html.unescape(html.unescape(piece)).replace("]]>", " "))
    return found and found[0]


def split_asides(text: str, opening: str, closing: str) -> list[str]:
    """The text in parts: what is between the marks, with them, is every second one. An opening without an end is text.

    A pattern would look for the end of each opening again, which takes hours where there are a hundred thousand of them.
    """
    parts, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        parts += [text[at:start], text[start : end + len(closing)]]
        at = end + len(closing)
    return [*parts, text[at:]]


class _Asides:
    """Finds where the text goes on after a comment or a CDATA section. It is asked from the front to the back."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, int] = {}

    def after(self, edge: re.Match[str]) -> int:
        start = edge.end()
        if edge[0] == "<!--":
            end = self._next("-->", start)
        else:
            end = self._next("]]>", start)
            if min(self._next("</item>", start), self._next("</entry>", start)) < end:
                # One that would swallow items was never closed.
                return start
        return start if end == len(self._text) else end + 3

    def _next(self, mark: str, start: int) -> int:
        """Where the mark comes next, or the end of the text. What was found ahead is not looked for again."""
        if self._found.get(mark, -1) < start:
            found = self._text.find(mark, start)
            self._found[mark] = len(self._text) if found < 0 else found
        return self._found[mark]


def _mended(piece: str) -> str:
    """The piece with what is no XML, and is written all the same, made right: bare ampersands, the names of HTML."""
    parts = split_asides(piece.translate(_CONTROL), *_CDATA)
    parts[::2] = (_REFERENCE.sub(_reference, part) for part in parts[::2])
    return "".join(parts)


def _reference(found: re.Match[str]) -> str:
    if found["number"]:
        return html.escape(html.unescape(found[0]).translate(_CONTROL))
    if found["name"] in _OF_XML:
        return found[0]
    character = html5.get(f"{found['name']};") if found["name"] else None
    return character or "&amp;" + found[0][1:]


def _with_plain_texts(piece: str) -> str:
    """The piece with everything inside titles and descriptions as text."""
    for name in _TEXTS:
        opening = re.search(rf"<{name}(\s[^<>]*)?>", piece)
        end = piece.rfind(f"</{name}>")
        if opening and opening.end() <= end and "<![CDATA[" not in piece[opening.end() : end]:
            inside = piece[opening.end() : end].replace("<", "&lt;").replace(">", "&gt;")
            piece = piece[: opening.end()] + inside + piece[end:]
    return piece


def _read(piece: str) -> list[FeedField]:
    found: list[FeedField] = []
    around: list[FeedField | None] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        # The first is the item itself.
        is_field = 1 <= len(around) < _DEEPEST_FIELD
        parent = around[-1] if around else None
        inside = parent.name if parent else None
        one = FeedField(_local(name), {_local(key): value for key, value in attributes.items()}, inside)
        around.append(one if is_field else None)
        if is_field:
            found.append(one)

    def end(_name: str) -> None:
        around.pop()

    def text(data: str) -> None:
        for one in around[1:_DEEPEST_FIELD]:
            if one is not None:
                one.parts.append(data)

    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.Parse(piece.encode("utf-8", "replace"), True)
    return found


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()
