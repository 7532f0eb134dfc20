"""The words that releases use about themselves, and what each means.

A word is *sure* when no series is called so ("x264", "WEB-DL"), and only a *tag* when one could be ("Web", "French"): a tag
counts inside brackets, and behind the name. A phrase is written with blanks; in titles a dot, a hyphen, an underscore or
nothing can stand for each.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a word says: which attribute, and its value."""

    attribute: str
    value: str
    sure: bool


SURE: Final = True
TAG: Final = False

# attribute, value, sure: the words.
_WORDS: Final[tuple[tuple[str, str, bool, str], ...]] = (
    ("resolution", "2160", SURE, "4k, uhd, 2160p, 4k uhd, ultrahd"),
    ("resolution", "1080", SURE, "1080p, 1080i, fhd, fullhd, full hd"),
    ("resolution", "720", SURE, "720p"),
    ("resolution", "480", SURE, "480p, 480i"),
    (
        "source",
        "Blu-ray",
        SURE,
        "blu ray, bluray, bdrip, bd rip, brrip, br rip, brmux, bdremux, bd remux, bdmv, bd25, bd50, uhdremux, bdmux, uhd bluray, bluray rip, blurayrip, bd box, bdbox",
    ),
    ("source", "Blu-ray", TAG, "bd, bdr, brd"),
    ("source", "WEB-DL", SURE, "web dl, webdl, web dlrip, webdlrip, web dlmux, webdlmux, web hd, webhd"),
    ("source", "WEBRip", SURE, "webrip, web rip, webcap, web cap, webmux"),
    ("source", "WEB", TAG, "web"),
    (
        "source",
        "HDTV",
        SURE,
        "hdtv, hdtvrip, hdtv rip, pdtv, sdtv, dsr, dsrip, dthrip, satrip, tvrip, tv rip, dvbrip, dvb, ahdtv, ahdtvmux, hdtvmux, htdv, uhdtv",
    ),
    ("source", "HDTV", TAG, "tv, ws"),
    (
        "source",
        "DVD",
        SURE,
        "dvdrip, dvd rip, dvdr, dvd9, dvd5, dvdscr, dvdmux, hddvd, hd dvd, dvdiso, dvd r, dvdremux, dvd box, dvdbox",
    ),
    ("source", "DVD", TAG, "dvd, r2, r2j, ntsc, pal, r5"),
    (
        "source",
        "HDRip",
        SURE,
        "hdrip, hd rip, hdlight, mhd, microhd, hdcam, hdts, hdtc, hcam, camrip, telesync, telecine, workprint, vhsrip, vhs rip, ppvrip, hqcam",
    ),
    ("source", "CAM", TAG, "cam, ts, tc, scr, screener, vhs, ppv, hd, sd, hq"),
    ("source", "Remux", SURE, "remux"),
    ("video", "AV1", SURE, "av1"),
    ("video", "H.264", SURE, "x264, h264, h 264, x 264, avc, avc1, hi10p, hi10, hi444, hi444pp"),
    ("video", "H.265", SURE, "x265, h265, h 265, x 265, hevc, hevc10"),
    (
        "video",
        "XviD",
        SURE,
        "xvid, divx, divx5, divx6, divx68, divx651, divx660, divx661, divx680, divx681, divx682, divx683, divx684, divx685, divx686, rmvb, wmv9, vc 1, mpeg2, mpeg 2, mpeg4, mpeg 4, vp9, vp8, x263, h263",
    ),
    (
        "video",
        "10-bit",
        SURE,
        "10bit, 10bits, 10 bit, 8bit, 8 bit, 8bits, 12bit, 12 bit, ma10p, main10, 10 bits, yuv420p10, yuv444p10",
    ),
    ("video", "HDR", SURE, "hdr, hdr10, hdr10+, dovi, dolby vision, hlg, bt709, bt2020, hdr10plus, hdr10p"),
    ("video", "HDR", TAG, "dv, sdr, hybrid, p8, p5"),
    (
        "video",
        "3D",
        TAG,
        "3d, half sbs, hsbs, sbs, half ou, hou, 24fps, 60fps, 120fps, 30fps, 23 976fps, 50fps, cfr, vfr",
    ),
    ("audio", "AAC", SURE, "aac, he aac, qaac, aacx2, aacx3, aac2"),
    ("audio", "AC-3", SURE, "ac3, ac 3, dd5, dd2, dd 5, dd+5, dd+, dd+2, dd1, dolby digital, dd7"),
    ("audio", "E-AC-3", SURE, "eac3, ac3d, e ac 3, ddp, ddp5, ddp2, ddpa, ddpa5, ddp7, ddp1, eac 3"),
    ("audio", "FLAC", SURE, "flac, flacx2, flac2"),
    (
        "audio",
        "DTS",
        SURE,
        "dts hd, dts hd ma, dts es, dtshd, dts x, dts hdma, dts hdhra, dtsx, dts, dts hd hra, dts ma, dts hd ma5",
    ),
    ("audio", "TrueHD", SURE, "truehd, truehd5, truehd7, true hd, dolby truehd"),
    ("audio", "Opus", SURE, "opus, ogg, vorbis, mp3, lpcm, wav, alac"),
    (
        "audio",
        "",
        TAG,
        "dd, pcm, atmos, dolby atmos, dolby, 2ch, 6ch, 8ch, 5 1ch, 2 0ch, 7 1ch, ch, stereo, mono, audio, aud, ma, ma5, 5 1, 7 1, 2 0, 6 1, 1 0",
    ),
    (
        "audio",
        "dual",
        TAG,
        "dual audio, dualaudio, dual audios, multi audio, multiaudio, multi audios, dual, 2audio, dual lang",
    ),
    ("container", "mkv", TAG, "mkv, matroska"),
    ("container", "mp4", TAG, "mp4, m4v, mov, mpg, mpeg"),
    ("container", "avi", TAG, "avi, wmv, flv, webm"),
    (
        "subtitles",
        "",
        TAG,
        "sub, subs, subbed, softsub, softsubs, hardsub, hardsubs, hardsubbed, esub, esubs, msub, msubs, multi sub, multi subs, multisub, multisubs, multiple subtitle, multiple subtitles, subtitle, subtitles, ass, assx2, assx3, srt, srtx2, pgs, subx2, subx3, dub, dubbed, dubs, custom, nosub, nosubs, nl subs, ensubbed, swesub, plsub, subfrench, english subs, english sub, subforced, sup",
    ),
    ("languages", "zh-Hans", TAG, "chs, gb, sc, gb jp, gbk, chs jp, chs jpn, zh cn, zh hans, hans"),
    ("languages", "zh-Hant", TAG, "cht, big5, big 5, tc jp, cht jp, zh tw, zh hant, hant"),
    ("languages", "zh", TAG, "chi, chinese, mandarin, cantonese, zh, zho"),
    ("languages", "ja", TAG, "jp, jpn, jap, japanese, ja"),
    ("languages", "en", TAG, "eng, english, en, en sub"),
    (
        "languages",
        "fr",
        TAG,
        "french, truefrench, vff, vfi, vfq, vf, vf2, vo, vost, fre, fra, fr, francais, voa",
    ),
    ("languages", "fr", SURE, "vostfr"),
    ("languages", "de", TAG, "german, deutsch, ger, deu, de"),
    ("languages", "es", TAG, "spanish, castellano, espanol, español, esp, spa, latino, es, lat"),
    ("languages", "it", TAG, "ita, italian, italiano, sub ita"),
    ("languages", "pt", TAG, "portuguese, por, pt, pt br, ptbr, dublado, legendado"),
    ("languages", "ru", TAG, "rus, russian, ru, russ"),
    ("languages", "ko", TAG, "kor, korean, ko"),
    ("languages", "hi", TAG, "hindi, hin, tamil, telugu, marathi, tam, tel, malayalam, kannada, punjabi, bengali"),
    ("languages", "nl", TAG, "dutch, nl, flemish, nld"),
    ("languages", "pl", TAG, "polish, pl, plk, pol, lektor"),
    ("languages", "sv", TAG, "swedish, swe, norwegian, danish, finnish, nordic, icelandic, nor, fin sub"),
    ("languages", "uk", TAG, "ukr, ukrainian, ua"),
    ("languages", "tr", TAG, "turkish, tr, tur"),
    (
        "languages",
        "th",
        TAG,
        "thai, th, vietnamese, vie, indonesian, arabic, ara, ar, hebrew, heb, greek, hungarian, hun, czech, cze, romanian, bulgarian",
    ),
    ("languages", "multi", TAG, "multi, multilang, multi lang, multi language, dl"),
    ("country", "US", TAG, "us"),
    ("country", "GB", TAG, "uk"),
    ("country", "AU", TAG, "au"),
    ("country", "NZ", TAG, "nz"),
    ("country", "CA", TAG, "ca"),
    ("platform", "Netflix", TAG, "nf, netflix"),
    ("platform", "Amazon", TAG, "amzn, amazon, prime video, prime"),
    ("platform", "Crunchyroll", TAG, "cr, crunchyroll"),
    ("platform", "Baha", TAG, "baha, bahamut, gamer"),
    ("platform", "Bilibili", TAG, "bilibili, b global, bglobal, bili, bstation"),
    ("platform", "ABEMA", TAG, "abema"),
    ("platform", "Disney+", TAG, "dsnp, dsny, disney, disney+, dnsp"),
    (
        "platform",
        "",
        TAG,
        "hulu, hmax, max, atvp, atv, itunes, it, ip, red, pcok, pmtp, stan, sentai, hidive, funi, funimation, adn, viu, iqiyi, wetv, tver, ttfc, friday, muse, ytv, at x, atx, mx, tbs, tvn, kktv, linetv, vrv, syfy, hbo, hoichoi, all4, 4od, mubi, cbs, pluz, nrk, ard, cc, ccgc, etv, food, id, rte, thecw, cw, dcu, yt, yk, youku, ambc, crkl, ina, fp, unext, u next, hamivideo, catchplay, viutv, mytvsuper, zee5, sonyliv, itvx, crav, dscp, vix, bs11, wowow, tvk, tva, mbs, cbc, kbs, ctc, bsj, bsi, bs tbs, bs fuji, bs ntv, bs asahi, bs japan, tokyo mx, animax, ntv, tving, wavve, nhk e, nhk etv, nhk g, nhk bs, d tvk, d tbs, d tx, cx, tx",
    ),
    (
        "release",
        "repack",
        TAG,
        "repack, repack2, proper, rerip, stv, integral, integrale, fixed, internal, limited, retail, read nfo, readnfo, nfofix, dirfix, subfix, preair, reseed, uncensored, censored, rv10",
    ),
    (
        "release",
        "edition",
        TAG,
        "extended, extended cut, extended edition, uncut, unrated, remastered, hd remaster, remaster, directors cut, director cut, director s cut, directors edition, theatrical, theatrical cut, special edition, criterion, criterion edition, imax, imax edition, open matte, final cut, international cut, collectors edition, ultimate edition, anniversary edition, ultra compressed, ts edit, edit, alternate cut",
    ),
    (
        "release",
        "kind",
        TAG,
        "docu, xxx, doku, documentary, unrated, psp, pc, psv, psv&pc, pc&psv, ipad, ios, ps3, om, widescreen, fullscreen, extras, bonus, cd1, cd2, cd3, dvd1, disc 1, disc 2, sample, xpost, asrequested, obfuscated, scrambled, complete series",
    ),
    (
        "batch",
        "batch",
        TAG,
        "batch, fin, complete, the complete, end, final, collection, complete season, the complete series, boxset, box set, pack, season pack, complete batch, full",
    ),
)

_PATTERNS: Final = (
    # A height, or a width and a height.
    (re.compile(r"(?:ai|bd|web|webrip|hdtv)?(?:\d{3,4}[x×])?(\d{3,4})[pi](?:\d{2,3})?"), "resolution", SURE),
    (re.compile(r"\d{3,4}[x×](\d{3,4})"), "resolution", SURE),
    (re.compile(r"(aac|flac|ac3|eac3|dts|ddp|opus|mp3)(?:x\d|\d)?"), "audio", SURE),
    (re.compile(r"\d{1,5}(?:mb|gb|mib|gib|kbps|kbit|fps|ch|khz|hz)"), "size", TAG),
    (re.compile(r"v(\d)"), "version", TAG),
)


def _vocabulary() -> dict[str, Meaning]:
    known: dict[str, Meaning] = {}
    for attribute, value, sure, words in _WORDS:
        for word in words.split(", "):
            known.setdefault(word, Meaning(attribute, value, sure))
    return known


KNOWN: Final = _vocabulary()
# How many words the longest phrase has that begins with this word: most words begin none, and cost one look-up.
LENGTHS: Final[dict[str, int]] = {}
for _phrase in KNOWN:
    _first, *_rest = _phrase.split()
    LENGTHS[_first] = max(LENGTHS.get(_first, 0), 1 + len(_rest))


@lru_cache(maxsize=4096)
def numeric(word: str) -> Meaning | None:
    """The meaning of a word that is made of a number and a unit, such as `1920x1080`."""
    for pattern, attribute, sure in _PATTERNS:
        if found := pattern.fullmatch(word):
            return Meaning(attribute, found[1] if pattern.groups else word, sure)
    return None
