"""Language tags of subtitles and audio, read as groups write them and written as servers read them."""

from __future__ import annotations

import pytest

from kurabito.placements.naming.sidecars import SubtitleStyle, TrackFlag, TrackTag, language_of, read_tag, suffix_of


@pytest.mark.parametrize(
    ("words", "languages"),
    [
        ("sc chs CHS GB zh-Hans zh_CN zh-cn 简体 简中", ("zh-Hans",)),
        ("tc cht BIG5 zh-Hant zh-TW zh-hk 繁體 繁体 繁中", ("zh-Hant",)),
        ("JPSC scjp chs_jpn chs&jpn 简日 简日双语 GB-JP", None),
        ("zh chi zho Chinese", ("zh",)),
        ("jp jpn ja Japanese 日本語", ("ja",)),
        ("en eng English", ("en",)),
        ("pt-BR ptbr", ("pt-BR",)),
        ("简英双语字幕 CHS-ENG 简体英文", ("zh-Hans", "en")),
        ("中英 中英字幕 中英双语", ("zh", "en")),
        ("繁體字幕 繁体中文字幕 繁體中文", ("zh-Hant",)),
        ("简繁 国语 中文字幕", ("zh",)),
        ("粤语 yue", ("yue",)),
        ("日本語字幕 日文", ("ja",)),
        ("한국어 한글자막", ("ko",)),
        ("Español Castellano Español", ("es",)),
        ("es-MX spa-LA", ("es-419",)),
        ("Français VFF", ("fr",)),
        ("Русский русские", ("ru",)),
        ("x264 1080p mkv Show 中 文 字幕 자막", ()),
    ],
)
def test_a_word_names_a_language(words: str, languages: tuple[str, ...] | None) -> None:
    for word in words.split():
        found = language_of(word)
        assert found == languages if languages is not None else found[:1] == ("zh-Hans",), word


@pytest.mark.parametrize(
    ("rest", "tag"),
    [
        (".chs", TrackTag(("zh-Hans",))),
        ("[JPTC]", TrackTag(("zh-Hant", "ja"))),
        (".[SC]", TrackTag(("zh-Hans",))),
        ("_CHT", TrackTag(("zh-Hant",))),
        (".eng.forced", TrackTag(("en",), (TrackFlag.FORCED,))),
        (".en.hi", TrackTag(("en",), (TrackFlag.SDH,))),
        ("2_English", TrackTag(("en",))),
        (".default.ja", TrackTag(("ja",), (TrackFlag.DEFAULT,))),
        (".Commentary", TrackTag(title="Commentary")),
        (".Portuguese (Brazil)", TrackTag(("pt-BR",))),
        (".Español (Latinoamérica)", TrackTag(("es-419",))),
        (".Tiếng Việt", TrackTag(("vi",))),
        (".オーディオコメンタリー", TrackTag(title="Commentary")),
        (" [Commentary 2].en", TrackTag(("en",), title="Commentary")),
        ("", TrackTag()),
        (".v2", TrackTag()),
    ],
)
def test_what_stands_behind_a_name_is_read(rest: str, tag: TrackTag) -> None:
    assert read_tag(rest) == tag


@pytest.mark.parametrize(
    ("tag", "current", "portable"),
    [
        (TrackTag(("zh-Hans",)), ".zh-Hans", ".简体.zh"),
        (TrackTag(("zh-Hant",)), ".zh-Hant", ".繁體.zh"),
        (TrackTag(("zh-Hans", "ja")), ".简日.zh-Hans", ".简日.zh"),
        (TrackTag(("zh-Hant", "ja")), ".繁日.zh-Hant", ".繁日.zh"),
        (TrackTag(("ja",)), ".ja", ".ja"),
        (TrackTag(("pt-BR",)), ".pt-BR", ".pt"),
        (TrackTag(("en",), (TrackFlag.SDH, TrackFlag.FORCED)), ".en.sdh.forced", ".en.sdh.forced"),
        (TrackTag(("en",), title="Kura. Subs"), ".Kura  Subs.en", ".Kura  Subs.en"),
        (TrackTag(), "", ""),
    ],
)
def test_a_tag_is_written_in_the_style_of_the_library(tag: TrackTag, current: str, portable: str) -> None:
    assert (suffix_of(tag, SubtitleStyle.CURRENT), suffix_of(tag, SubtitleStyle.PORTABLE)) == (current, portable)
