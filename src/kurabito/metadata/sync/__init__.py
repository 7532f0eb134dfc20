"""One sync: ids first and at once, posters beside them and at their own pace.

    offline_ids ──► lookups ──► poster_lookups ──► (done)
    in bulk,        TMDB         bgm.tv, TMDB: where is a poster?
    no request        │               │
                      └───► posters ◄─┘   the pictures, five at once, while the others go on

run.py             the parts in their order, and what they came to
offline_ids.py     ids that the imported index knows
lookups.py         ids that TMDB is asked for
poster_lookups.py  where the posters are that no lookup brought
posters.py         pictures whose URL is known
lanes.py           the records that a part works through, five at a time
turns.py           when a service that fails is left alone until the next sync
progress.py        how far it is, each record counted once
write_batch.py     what was found, written in batches
"""

from kurabito.metadata.sync.lanes import SYNC_CONCURRENCY
from kurabito.metadata.sync.posters import fetch_poster
from kurabito.metadata.sync.progress import Synced
from kurabito.metadata.sync.run import Sync

__all__ = ["SYNC_CONCURRENCY", "Sync", "Synced", "fetch_poster"]
