"""Names of files can be anything; what is shown is what can be seen."""

from __future__ import annotations

import pytest

from kurabito.web.names import shown_name, shown_path


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain.mkv", "plain.mkv"),
        ("<b>&\"'", "&lt;b&gt;&amp;&#34;&#39;"),
        ("caf\uefe9", 'caf<span class="odd">\\xe9</span>'),
        ("two\nlines", 'two<span class="odd">\\n</span>lines'),
        ("gpj.\u202egnp", 'gpj.<span class="odd">\\u202e</span>gnp'),
        ("蔵の番人 🏮", "蔵の番人 🏮"),
    ],
)
def test_what_cannot_be_seen_is_written_out(name: str, shown: str) -> None:
    assert str(shown_name(name)) == shown


def test_each_part_of_a_path_has_its_own_direction() -> None:
    assert str(shown_path("שלום/a/b.mkv")) == (
        '<span class="path" dir="ltr"><span class="folders"><bdi>שלום</bdi>/<wbr><bdi>a</bdi>/<wbr></span>'
        "<bdi>b.mkv</bdi></span>"
    )
    assert str(shown_path("b.mkv")) == '<span class="path" dir="ltr"><bdi>b.mkv</bdi></span>'
