"""Every status that a page colours has a tone, and every tone a colour."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import pytest

import kurabito.web
from kurabito.web.tone import TONES, Tone, tone_of

FOLDER = Path(kurabito.web.__file__).parent
STYLE = (FOLDER / "static" / "kurabito.css").read_text(encoding="utf-8")
TEMPLATES = "".join(path.read_text(encoding="utf-8") for path in (FOLDER / "templates").glob("*.html"))


@pytest.mark.parametrize("kind", TONES, ids=lambda kind: kind.__name__)
def test_every_status_of_a_kind_has_a_tone(kind: type[StrEnum]) -> None:
    assert {status: tone_of(status) for status in kind} == TONES[kind]


@pytest.mark.parametrize("tone", Tone)
def test_every_tone_has_a_colour(tone: Tone) -> None:
    assert f"--{tone}: light-dark(" in STYLE
    assert f'[data-tone="{tone}"] {{ --tone: var(--{tone}); }}' in STYLE


def test_a_template_names_only_tones_that_there_are() -> None:
    named = set(re.findall(r"""mark\(["'](\w+)["']""", TEMPLATES))
    for expression in re.findall(r'data-tone="([^"]*)"', TEMPLATES):
        named |= {expression} if expression.isalpha() else set(re.findall(r"(?<!= )'(\w+)'", expression))
    assert named == set(Tone)
