"""Posters drawn by code: a storehouse in a landscape, another one for every name.

A picture is made row by row out of spans of one colour each, which a PNG with a palette stores in a few kilobytes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

WIDTH: Final = 400
_HEIGHT: Final = 600
_SHADES: Final = 48
"""Steps from the top of the sky down to the horizon; the other colours follow them in the palette."""
_SUN, _FAR, _NEAR, _ROOF, _WALL, _TILE, _DOOR, _GROUND, _FLAKE = range(_SHADES, _SHADES + 9)
_MESH: Final = 24
_JOINT: Final = 4

Colour = tuple[int, int, int]


class Hour(NamedTuple):
    """The colours of a time of day or year."""

    above: Colour
    horizon: Colour
    sun: Colour
    far: Colour
    near: Colour
    ground: Colour
    flake: Colour


_HOURS: Final = (
    Hour(
        (244, 178, 132), (253, 231, 196), (214, 74, 54), (186, 132, 120), (124, 84, 86), (84, 60, 64), (255, 244, 224)
    ),
    Hour((20, 28, 58), (72, 88, 132), (244, 236, 206), (44, 56, 96), (28, 36, 66), (16, 22, 44), (230, 234, 250)),
    Hour(
        (122, 178, 214),
        (226, 240, 240),
        (255, 248, 222),
        (132, 172, 164),
        (86, 130, 112),
        (62, 96, 78),
        (248, 196, 208),
    ),
    Hour((92, 64, 108), (236, 148, 112), (255, 214, 138), (112, 70, 98), (72, 46, 74), (46, 32, 54), (255, 226, 180)),
    Hour(
        (176, 190, 204),
        (238, 240, 242),
        (250, 250, 246),
        (166, 180, 194),
        (118, 134, 150),
        (226, 230, 234),
        (255, 255, 255),
    ),
    Hour((232, 196, 120), (252, 236, 198), (196, 92, 48), (196, 142, 78), (150, 86, 48), (98, 58, 40), (206, 84, 44)),
)


class _Scene:
    """Where everything stands in one picture."""

    def __init__(self, name: str) -> None:
        chance = Random(name)  # noqa: S311 - a picture, not a secret
        self.hour = chance.choice(_HOURS)
        self.horizon = chance.randint(380, 430)
        self.sun = (chance.randint(70, 330), chance.randint(90, 250), chance.randint(34, 78))
        self.far = [(chance.randint(-40, 440), chance.randint(210, 320), chance.uniform(0.9, 1.6)) for _ in range(4)]
        self.near = [(chance.randint(-40, 440), chance.randint(320, 380), chance.uniform(1.6, 3.2)) for _ in range(3)]
        self.centre = chance.randint(150, 250)
        self.half = chance.randint(76, 104)
        self.eaves = self.horizon - chance.randint(70, 110)
        self.base = self.horizon + chance.randint(54, 84)
        self.flakes = {(chance.randrange(WIDTH), chance.randrange(_HEIGHT)) for _ in range(chance.choice((0, 40, 90)))}

    def rows(self) -> Iterator[bytes]:
        flakes: dict[int, list[int]] = {}
        for x, top in self.flakes:
            for y in range(top, top + 4):
                flakes.setdefault(y, []).append(x)
        for y in range(_HEIGHT):
            row = bytearray([min(y * _SHADES // self.horizon, _SHADES - 1)]) * WIDTH
            self._landscape(row, y)
            self._storehouse(row, y)
            for x in flakes.get(y, ()):
                _span(row, x, x + 4, _FLAKE)
            yield bytes(row)

    def _landscape(self, row: bytearray, y: int) -> None:
        x, height, radius = self.sun
        if abs(y - height) < radius:
            reach = (radius**2 - (y - height) ** 2) ** 0.5
            _span(row, x - reach, x + reach, _SUN)
        for colour, peaks in ((_FAR, self.far), (_NEAR, self.near)):
            for peak, top, slope in peaks:
                if y > top:
                    _span(row, peak - (y - top) * slope, peak + (y - top) * slope, colour)
        if y >= self.horizon:
            _span(row, 0, WIDTH, _GROUND)

    def _storehouse(self, row: bytearray, y: int) -> None:
        ridge = self.eaves - self.half // 2
        if ridge <= y < self.eaves:
            reach = 18 + (y - ridge) * (self.half + 6) / (self.eaves - ridge)
            _span(row, self.centre - reach, self.centre + reach, _ROOF)
        elif self.eaves <= y < self.base:
            left, right = self.centre - self.half, self.centre + self.half
            _span(row, left, right, _WALL)
            if y > self.base - (self.base - self.eaves) * 0.42:
                row[left:right] = _lattice(y, left, right)
            if y > self.base - (self.base - self.eaves) * 0.55:
                _span(row, self.centre - 24, self.centre + 24, _WALL)
                _span(row, self.centre - 18, self.centre + 18, _DOOR)


class Painting(NamedTuple):
    """A picture as rows of numbers, and the colour that each number stands for."""

    rows: list[bytes]
    palette: list[Colour]


def paint(name: str) -> Painting:
    """The picture of what has this name; the same each time."""
    scene = _Scene(name)
    hour = scene.hour
    sky = [_between(hour.above, hour.horizon, step / (_SHADES - 1)) for step in range(_SHADES)]
    building: list[Colour] = [(44, 50, 60), (244, 240, 230), (52, 66, 84), (166, 56, 42)]
    return Painting(list(scene.rows()), [*sky, hour.sun, hour.far, hour.near, *building, hour.ground, hour.flake])


def draw_poster(name: str) -> bytes:
    """The picture of what has this name, as a PNG."""
    rows, palette = paint(name)
    # Each row begins with the number of its filter: none.
    pixels = b"".join(b"\0" + row for row in rows)
    header = struct.pack(">IIBBBBB", WIDTH, _HEIGHT, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", bytes(sum(palette, ()))), (b"IDAT", zlib.compress(pixels)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _lattice(y: int, left: int, right: int) -> bytes:
    """A row of the tiles that a storehouse's walls are covered with, and the plaster of their joints."""
    mesh = bytes(_WALL if (x + y) % _MESH < _JOINT or (x - y) % _MESH < _JOINT else _TILE for x in range(_MESH))
    return (mesh * (right // _MESH + 1))[left:right]


def _span(row: bytearray, begin: float, end: float, colour: int) -> None:
    left, right = max(0, int(begin)), min(len(row), int(end))
    if left < right:
        row[left:right] = bytes([colour]) * (right - left)


def _between(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
