"""Made-up shows and films, as metadata services would describe them.

Those that are on began with the season that it is now. Two of the others have the same name, which only a person can tell apart.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, NamedTuple

from kurabito.metadata.calendar import SEASON_MONTHS
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry

# Far beyond the numbers that are given to real ones.
_FIRST: Final = 99_000_000


class Show(NamedTuple):
    """A show or a film, and what it is called where."""

    bgm_id: int
    japanese: str
    chinese: str
    english: str
    others: tuple[str, ...] = ()
    weekday: int | None = None
    """On which it is on now; 1 is Monday."""
    day: date | None = None
    """On which it began, when that is over."""
    kind: RecordKind = RecordKind.TV
    season: int | None = None
    is_indexed: bool = True
    """Whether the offline index has it."""

    def began(self, today: date) -> date:
        if self.day is not None:
            return self.day
        first = season_of(today)
        return first + timedelta((self.weekday or first.isoweekday()) - first.isoweekday() + 7)

    def entry(self, today: date) -> OfflineEntry:
        """What the offline index says of it."""
        world = TmdbKind.MOVIE if self.kind is RecordKind.MOVIE else TmdbKind.TV
        number = self.bgm_id
        ids = Ids(number, number + 1000, world, self.season, number + 2000, number + 3000, number + 4000, number + 5000)
        return OfflineEntry(
            title=self.japanese,
            kind=self.kind,
            language="ja",
            ids=ids,
            air_date=self.began(today),
            title_chinese=self.chinese,
            title_english=self.english,
            other_titles=(self.chinese, self.english, *self.others),
        )


def season_of(today: date) -> date:
    """The first day of the season that a day is in."""
    return date(today.year, max(month for month in SEASON_MONTHS if month <= today.month), 1)


ALL_SHOWS: Final = (
    Show(_FIRST + 101, "夜明けの蔵", "黎明之仓", "The Storehouse at Dawn", weekday=1),
    Show(_FIRST + 102, "雨音カフェ", "雨声咖啡馆", "Café of Falling Rain", weekday=1),
    Show(_FIRST + 103, "蔵の番人", "仓库的守门人", "Warden of the Storehouse", ("Kura no Bannin",), weekday=2),
    Show(_FIRST + 104, "七番目の鍵", "第七把钥匙", "The Seventh Key", weekday=2),
    Show(_FIRST + 105, "夜の蔵人", "夜之蔵人", "Brewer of the Night", ("Yoru no Kurabito",), weekday=3),
    Show(_FIRST + 106, "北の灯台守", "北方的灯塔看守", "Keeper of the Northern Light", weekday=3),
    Show(_FIRST + 107, "屋根裏物語", "阁楼物语", "Tales from the Loft", weekday=4),
    Show(_FIRST + 108, "紙の舟", "纸船", "Paper Boats", weekday=4),
    Show(
        _FIRST + 109,
        "門番たち 第2期",
        "守门人们 第二季",
        "The Gatekeepers Season 2",
        ("The Gatekeepers 2nd Season",),
        weekday=5,
        season=2,
    ),
    Show(_FIRST + 110, "瓦職人ルリ", "瓦匠琉璃", "Ruri, Maker of Tiles", weekday=5),
    Show(_FIRST + 111, "雪国鉄道", "雪国铁道", "Snow Country Railway", weekday=6),
    # In no index: it has to be asked for, and there are two of this name.
    Show(_FIRST + 112, "猫と帳簿", "猫与账本", "The Cat and the Ledger", weekday=6, is_indexed=False),
    Show(_FIRST + 113, "七夕通信", "七夕通信", "Letters at Tanabata", weekday=7),
    Show(_FIRST + 114, "味噌と王女", "味噌与公主", "Miso and the Princess", weekday=7),
    Show(_FIRST + 201, "門番たち", "守门人们", "The Gatekeepers", day=date(2023, 4, 7)),
    Show(_FIRST + 202, "門を守る者", "守门之人", "Keeper of the Gate", day=date(2019, 7, 19), kind=RecordKind.MOVIE),
    Show(_FIRST + 203, "灯籠", "灯笼", "The Lantern", day=date(2009, 10, 4)),
    Show(_FIRST + 204, "灯籠", "灯笼 新版", "The Lantern", day=date(2021, 10, 3)),
    Show(_FIRST + 205, "土蔵の歌", "土仓之歌", "Song of the Clay Wall", day=date(2021, 10, 9), kind=RecordKind.WEB),
    Show(_FIRST + 206, "白壁の町", "白墙小镇", "The Town of White Walls", day=date(2021, 11, 12), kind=RecordKind.OVA),
)
