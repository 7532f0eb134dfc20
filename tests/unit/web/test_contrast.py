"""Every colour of text can be read on every ground it stands on, in both lights."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kurabito.web
from kurabito.web.tone import Tone

STYLE = (Path(kurabito.web.__file__).parent / "static" / "kurabito.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLE)
}
TEXT = ["ink", "faded", "indigo", *Tone]
GROUNDS = ["paper", "sheet", "shade"]
# The least that WCAG asks for at level AA: of text, and of what shows where a control is.
LEAST = 4.5
LEAST_OF_EDGES = 3.0


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted([_luminance(one), _luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("light", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXT)
def test_text_can_be_read(text: str, ground: str, light: int) -> None:
    assert _contrast(COLOURS[text][light], COLOURS[ground][light]) >= LEAST


@pytest.mark.parametrize("light", [0, 1], ids=["light", "dark"])
def test_what_is_marked_and_what_can_be_pressed_can_be_told_apart(light: int) -> None:
    assert _contrast(COLOURS["on-indigo"][light], COLOURS["indigo"][light]) >= LEAST
    assert _contrast(COLOURS["edge"][light], COLOURS["paper"][light]) >= LEAST_OF_EDGES
