"""One key for the ways of writing the same sounds, on romaji names only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.titles.abbreviations import short_names
from kurabito.titles.kana import kana_to_romaji, letters_of, readings_of
from kurabito.titles.romaji import is_romaji, morae, romaji_key

SAME = [
    ("Kōji no Ōkami", "Kouji no Ookami", "Koji no Okami", "Kohji no Ohkami"),
    ("Sake wo Nomu", "Sake o Nomu", "SAKE WO NOMU!"),
    ("Boku wa Toji", "Boku ha Toji"),
    ("Kura e Iku", "Kura he Iku"),
    ("Shinbun Toji", "Shimbun Toji", "Sinbun Tozi"),
    ("Jun'ichi no Kura", "Junichi no Kura", "Jun’ichi no Kura"),
    ("Tsuki no Shizuku", "Tuki no Sizuku"),
    ("Jitensha no Uta", "Zitensya no Uta", "Jitensya no Uta"),
    ("Bocchi Toji", "Botchi Toji", "Botti Toji"),
    ("Fuyu no Chaya", "Huyu no Tyaya"),
    ("Jouzou Shoujo", "Jōzō Shōjo", "Zyouzou Syouzyo", "Jyouzou Shoujyo"),
    ("Kura × Toji", "Kura x Toji", "Kura Cross Toji"),
    ("Onii-chan no Kura", "Oniichan no Kura", "Onī-chan no Kura"),
    ("Matte Iru Kura", "Matteiru Kura"),
    ("Sousou no Freundin", "Sōsō no Freundin"),
    ("Tensei Shitara Slipper Datta Ken", "Tensei shitara Slipper datta ken"),
    ("Tsuzuki no Kura", "Tsudzuki no Kura"),
    ("Kurabito Machi II", "Kurabito Machi 2"),
]
DIFFERENT = [
    ("Koji no Uta", "Koji no Ita"),
    ("Kiteru Neko", "Kitteru Neko"),
    ("Sake to Yoru", "Sake to Yori"),
    ("Kura 8-gou", "Kura 9-gou"),
    ("Kurabito Machi", "Kurabito Machi II"),
    ("Kurabito Machi II", "Kurabito Machi III"),
    ("Kurabito Machi", "Kurabito Machi IV"),
]
NOT_ROMAJI = [
    "Soul", "Sol", "Moon", "Mon", "One", "Bleak", "The Toji", "My Kura", "Love Cellar!", "Spirit of Rice", "Made in Cellars", "Brew", "夜の蔵人", "蔵人 Kurabito",
    "Погреб", "", "123", "...", "22/7", "X", "Dr. Stone", "Star Brewers",
]  # fmt: skip


@pytest.mark.parametrize("spellings", SAME, ids=lambda spellings: spellings[0])
def test_spellings_of_the_same_sounds_have_one_key(spellings: tuple[str, ...]) -> None:
    keys = {romaji_key(spelling) for spelling in spellings}

    assert len(keys) == 1
    assert None not in keys


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_sounds_have_another_key(one: str, other: str) -> None:
    assert romaji_key(one) != romaji_key(other)


@pytest.mark.parametrize("name", NOT_ROMAJI)
def test_what_is_not_romaji_has_no_key(name: str) -> None:
    assert romaji_key(name) is None


@pytest.mark.parametrize("name", ["Yoru no Kurabito", "Kimi to Sakazuki wo", "Jouzou Shoujo Monogatari"])
def test_a_name_is_surely_romaji(name: str) -> None:
    assert is_romaji(name)


@pytest.mark.parametrize("name", ["Naru", "Banana", "Night Brewer", "To"])
def test_a_word_that_other_languages_could_have_is_not_surely_romaji(name: str) -> None:
    assert not is_romaji(name)


def test_morae() -> None:
    assert morae("kurabito") == ["ku", "ra", "bi", "to"]
    assert morae("shinbun") == ["shi", "n", "bu", "n"]
    assert morae("brew") == []


KANA = [
    ("ゆるキャン△", "yurukyan"),
    ("ガールズ＆パンツァー", "gaaruzu pantsaa"),
    ("ぼっち・ざ・くら！", "botchi za kura"),
    ("ちょっとまって", "chottomatte"),
    ("しんいち", "shin'ichi"),
    ("こんや", "kon'ya"),
    ("ティータイム", "tiitaimu"),
    ("ヴァイオレット", "vaioretto"),
    ("ジェシカ", "jeshika"),
    ("ウィッチ", "witchi"),
    ("すゞめ", "suzume"),
    ("いすゞ", "isuzu"),
    ("こゝろ", "kokoro"),
    ("ｶﾞﾝﾀﾞﾑ", "gandamu"),
    ("りゅうおうのおしごと!", "ryuuounooshigoto"),
    ("あぁくら", "aakura"),
    ("デュエル", "dyueru"),
    ("SHIROBAKOのくら 2", "SHIROBAKOnokura 2"),
]


@pytest.mark.parametrize(("text", "reading"), KANA)
def test_kana_are_read_mechanically(text: str, reading: str) -> None:
    assert kana_to_romaji(text) == reading


@pytest.mark.parametrize("text", ["夜の蔵人", "Yoru no Kurabito", "蔵人", "한글", "", "！？", "くらПогреб"])
def test_what_has_no_fixed_reading_is_left_alone(text: str) -> None:
    assert kana_to_romaji(text) is None


def test_a_title_in_kana_finds_its_romaji() -> None:
    read = kana_to_romaji("ぼくはくらでおさけをのむ")

    assert read is not None
    assert romaji_key(read) == romaji_key("Boku wa Kura de Osake o Nomu")


VOWELS = {"a": "ā", "i": "ī", "u": "ū", "e": "ē", "o": "ō"}
SYLLABLES = st.sampled_from(
    "ka ki ku ke ko sa shi su se so ta chi tsu te to na ni nu ne no ma mi mu me mo ra ri ru re ro ya yu yo".split()
)
WORDS = st.lists(SYLLABLES, min_size=3, max_size=5).map("".join)
NAMES = st.lists(WORDS, min_size=1, max_size=6)


@given(NAMES)
def test_a_key_does_not_depend_on_case_blanks_and_signs(words: list[str]) -> None:
    key = romaji_key(" ".join(words))

    assert key is not None
    assert key == romaji_key("-".join(words).upper()) == romaji_key(f"{' '.join(words)}!") == romaji_key("".join(words))


@given(NAMES)
def test_a_key_does_not_depend_on_how_a_long_vowel_is_written(words: list[str]) -> None:
    name = " ".join(words)
    long = "".join(VOWELS.get(char, char) for char in name)

    assert romaji_key(long) == romaji_key(name)


@given(st.text(max_size=60))
def test_every_text_has_a_key_or_none(text: str) -> None:
    key, reading = romaji_key(text), kana_to_romaji(text)

    assert key is None or (key and key.isascii() and key.isalnum())
    assert reading is None or (reading and reading == reading.strip())
    assert all(name and name != text for name in short_names(text))


@given(st.text(alphabet=[chr(code) for code in range(0x3041, 0x3097)], min_size=1, max_size=20))
def test_hiragana_and_katakana_read_alike(text: str) -> None:
    katakana = "".join(chr(ord(char) + 0x60) for char in text)

    assert kana_to_romaji(text) == kana_to_romaji(katakana)


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("Kono Kura ni Shukufuku wo!", "KKnSw"),
        ("Kono Kura ni Shukufuku wo!", "konokura"),
        ("Kura-sama wa Kikaretai: Toji-tachi no Uta", "Kura-sama wa Kikaretai"),
        ("Kage no Jitsuwa", "kagejitsu"),
        ("Kura×Toji", "Kura Toji"),
        ("Kura x Toji", "Kura Toji"),
        ("My Brewer Academy", "MBA"),
        ("蔵の夜～杜氏たちの歌～", "蔵の夜"),
    ],
)
def test_a_long_title_has_short_names(title: str, short: str) -> None:
    assert short in short_names(title)


@pytest.mark.parametrize("title", ["Koji", "Koji no", "夜の蔵人"])
def test_a_short_title_has_none(title: str) -> None:
    assert short_names(title) == ()


READ = [
    ("夜の蔵人たち", "Yoru no Kurabito-tachi"),
    ("転生したらアレンビックだった件", "Tensei Shitara Alembic Datta Ken"),
    ("蔵人は酒を学校へ運ぶ", "Kurabito wa Sake wo Gakkou e Hakobu"),
    ("蔵人は酒を学校へ運ぶ", "Kurabito ha Sake o Gakko he Hakobu"),
    ("発酵姫 ブルワリーガールズ", "Hakkou Hime Brewery Girls"),
    ("人々の黄金の夜くん", "Hitobito no Ougon no Yoru-kun"),
    ("ボックスカーの夜明け", "Boxcar no Yoake"),
    ("夜の蔵人 四杜氏", "Yoru no Kurabito: Yon Toji"),
    ("冬酒友人帳 漆", "Fuyuzake Yuujinchou Shichi"),
    ("一杯の酒", "Ippai no Sake"),
]
UNREAD = [
    ("夜の蔵人たち", "Yoru to Kurabito-tachi"),
    ("夜の蔵人たち", "Yoru no Kurabito"),
    ("転生したらアレンビックだった件", "Tensei Shitara Slime Datta Ken"),
    ("夜の蔵人たち", "The Night Brewers"),
    # A sound is swallowed before another, and never at the end.
    ("冬酒友人帳 漆", "Fuyuzake Yuujinchou Shi"),
]


@pytest.mark.parametrize(("title", "romaji"), READ)
def test_romaji_may_be_the_reading_of_a_title(title: str, romaji: str) -> None:
    assert readings_of(title).fullmatch(letters_of(romaji))


@pytest.mark.parametrize(("title", "romaji"), UNREAD)
def test_romaji_of_another_title_is_not_its_reading(title: str, romaji: str) -> None:
    assert not readings_of(title).fullmatch(letters_of(romaji))


@pytest.mark.parametrize("title", ["夜蔵", "スライム", "酒", ""])
def test_a_short_title_has_no_readings_because_too_much_would_be_one(title: str) -> None:
    assert readings_of(title) is None
