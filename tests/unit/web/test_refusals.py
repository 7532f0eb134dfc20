"""What a form can send is refused in the reader's language."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

import kurabito
from kurabito.app.own.trials import SettingTrials, look_at_folder
from kurabito.placements.naming.reasons import TemplateReason
from kurabito.reasons import InputReason, Reason, refused
from kurabito.settings import Settings
from kurabito.settings.problems import SettingReason
from kurabito.settings.verdicts import SettingVerdict
from kurabito.web.languages import catalogues
from kurabito.web.words import Words

if TYPE_CHECKING:
    from kurabito.db import Database
    from kurabito.http import Outbound

SOURCE = Path(kurabito.__file__).parent
ASKED_BY_FORMS = (
    "web",
    "access/keys.py",
    "access/passwords.py",
    "catalog",
    "downloads/conflicts.py",
    "downloads/clients/torrent_files.py",
    "downloads/filters",
    "downloads/profiles",
    "downloads/wanted",
    "indexers/service.py",
    "library/service.py",
    "media_servers",
    "notifications",
    "placements/filing",
    "placements/imports",
    "placements/renames",
    "titles",
)
REFUSALS = {"InvalidInput": 3, "InvalidRule": 3, "InvalidTemplate": 3}
"""How many arguments each has with its reason."""
FACTS = {
    "most": 9,
    "path": "/srv",
    "name": "Cellar",
    "names": "wine",
    "value": "red",
    "text": "x",
    "position": 7,
    "token": "year",
    "tokens": "{year}",
    "character": ":",
}


def refusals(path: Path) -> list[ast.Call]:
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return [call for call in calls if getattr(call.func, "id", "") in REFUSALS]


def files() -> list[Path]:
    places = [SOURCE / name for name in ASKED_BY_FORMS]
    return sorted(path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))


def test_whatever_a_form_can_send_is_refused_with_a_reason() -> None:
    found = {path: refusals(path) for path in files()}
    assert sum(map(len, found.values())) > 80
    without = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path, calls in found.items()
        for call in calls
        if len(call.args) + len(call.keywords) < REFUSALS[getattr(call.func, "id", "")]
    ]
    assert without == []


async def test_an_address_and_a_folder_that_cannot_be_tried_are_refused_with_a_reason() -> None:
    trials = SettingTrials(cast("Database", None), cast("Outbound", None), Settings)
    assert await trials.tmdb_url("ftp://tmdb.test") == SettingVerdict(False, Reason(SettingReason.WEB_URL))
    assert await trials.proxy("nas:1080") == SettingVerdict(False, refused(InputReason.PROXY_URL))
    assert look_at_folder(Path("downloads"), []) == SettingVerdict(False, Reason(SettingReason.FOLDER))


@pytest.mark.parametrize("tag", catalogues())
def test_every_reason_has_its_words(tag: str) -> None:
    words = Words(catalogues()[tag], datetime(2026, 1, 1, tzinfo=UTC))
    for code in TemplateReason:
        assert "7" in words.because(Reason(code, FACTS))
    assert "{{" not in words.because(Reason(TemplateReason.BRACE_CLOSED, FACTS))
    assert "Cellar" in words.because(refused(InputReason.SERIES_UNCLEAR, **FACTS))
