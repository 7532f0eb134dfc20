"""The examples in the rules of the protocol are what our own data plane does."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from blake3 import blake3

from kurabito.clock import SECOND
from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.files.ignore import Ignored
from kurabito.dataplane.files.paths import as_name, as_text
from kurabito.protocol.leased.thumbnails import retry_delay
from kurabito.protocol.rules import section

NAMES = {
    b"caf\xc3\xa9.mkv": "caf\u00e9.mkv",
    b"caf\xe9.mkv": "caf\uefe9.mkv",
    b"\xee\xbe\x80": "\uefee\uefbe\uef80",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_one_text_and_the_text_leads_back(name: bytes) -> None:
    text = as_text(os.fsdecode(name))
    assert text == NAMES[name]
    assert os.fsencode(as_name(text)) == name
    for char in text:
        if char > "\ue000":
            assert f"U+{ord(char):04X}" in section("paths")


def test_patterns_pass_over_what_the_table_says() -> None:
    table = section("scan").partition("### Ignored names")[2].partition("###")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \| (.*?) \|$", table, re.MULTILINE)
    assert len(rows) == 15
    for patterns, passed_over, kept in rows:
        ignored = Ignored(re.findall("`(.*?)`", patterns))
        for told, stays in ((passed_over, False), (kept, True)):
            for path in re.findall("`(.*?)`", told):
                assert is_kept(ignored, path, is_folder="folder" in told) is stays, (patterns, path)


def is_kept(ignored: Ignored, path: str, *, is_folder: bool) -> bool:
    folder, slash, name = path.rpartition("/")
    return bool(ignored.keep(folder + slash, [name + "/" if is_folder else name]))


@pytest.mark.parametrize(("size", "sampled"), [(90_000, 8192), (8192, 8192), (5000, 5000), (100, 100)])
def test_a_sample_is_of_the_first_and_the_last_bytes(tmp_path: Path, size: int, sampled: int) -> None:
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    fd = os.open(tmp_path / "file", os.O_RDONLY)
    digest, _ = Reader(mapped=False).edges(fd, size)
    os.close(fd)
    bytes_read = content if sampled == size else content[:4096] + content[-4096:]
    assert (digest, len(bytes_read)) == (blake3(bytes_read).digest(), sampled)


def test_a_thumbnail_that_failed_twice_waits_a_minute() -> None:
    assert [retry_delay(failures) // SECOND for failures in (1, 2, 99)] == [30, 60, 1800]
