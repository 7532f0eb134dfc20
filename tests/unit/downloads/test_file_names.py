"""What a plain download is called on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.downloads.clients.embedded.file_names import file_name


@pytest.mark.parametrize(
    ("url", "disposition", "name"),
    [
        ("https://a.example/x/Kura%20-%2001.mkv?token=1", None, "Kura - 01.mkv"),
        ("https://a.example/", None, "download"),
        ("https://a.example/get", 'attachment; filename="Kura.mkv"', "Kura.mkv"),
        ("https://a.example/get", "attachment; filename*=UTF-8''%E8%94%B5.mkv", "蔵.mkv"),
        ("https://a.example/get", 'attachment; filename="../../etc/passwd"', "passwd"),
        ("https://a.example/..%2f..%2fetc%2fpasswd", None, "passwd"),
        ("https://a.example/get", 'attachment; filename=".."', "download"),
        ("https://a.example/" + "a" * 300 + ".mkv", None, "a" * 196 + ".mkv"),
    ],
)
def test_a_file_has_the_name_its_host_gives_or_the_end_of_its_url(url: str, disposition: str, name: str) -> None:
    assert file_name(url, disposition) == name


@given(st.text(max_size=300))
def test_no_name_leads_out_of_its_folder(told: str) -> None:
    name = file_name("https://a.example/" + told.replace("#", ""), None)
    assert Path("/folder", name).parent == Path("/folder")
    assert name not in (".", "..")
    assert len(name.encode()) <= 255
