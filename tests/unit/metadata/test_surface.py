"""The names and numbers that others rely on, and the tree of what can go wrong."""

from __future__ import annotations

import inspect

import pytest

from kurabito import metadata
from kurabito.errors import KurabitoError
from kurabito.metadata import MetadataHandle, MetadataService, PosterService, errors
from kurabito.metadata.actor import SYNC_INTERVAL
from kurabito.metadata.pending import POSTER_URL_PREFIX, SYNC_CHUNK, TMDB_COOL_DOWN
from kurabito.metadata.posters.downloads import POSTER_DOWNLOAD_CONCURRENCY
from kurabito.metadata.runner import MetadataRunner
from kurabito.metadata.sync import SYNC_CONCURRENCY


def test_the_numbers_are_those_of_the_design() -> None:
    assert (SYNC_INTERVAL, SYNC_CHUNK, SYNC_CONCURRENCY, POSTER_DOWNLOAD_CONCURRENCY) == (3600.0, 100, 5, 5)
    assert (TMDB_COOL_DOWN.days, TMDB_COOL_DOWN.seconds, POSTER_URL_PREFIX) == (7, 0, "/posters/")


def test_the_public_names_are_there() -> None:
    assert set(metadata.__all__) == {
        "CalendarService", "DownloadPoster", "DownloadPosterBatch", "MetadataActor", "MetadataHandle", "MetadataMessage",
        "MetadataRunner", "MetadataService", "PosterService", "Shutdown", "TriggerSync", "get_metadata_to_sync",
        "needs_poster_sync", "needs_tmdb_sync",
    }  # fmt: skip
    waited_for = (
        MetadataHandle.download, MetadataHandle.download_batch, MetadataHandle.trigger_sync, MetadataHandle.shutdown,
        PosterService.download_from_url, MetadataService.find_tmdb_id, MetadataRunner.sync_all_metadata,
    )  # fmt: skip
    assert all(inspect.iscoroutinefunction(method) for method in waited_for)
    assert not inspect.iscoroutinefunction(MetadataHandle.is_running)


@pytest.mark.parametrize(
    ("error", "above"),
    [
        (errors.PosterUnreachable, errors.PosterError),
        (errors.PosterNotStored, errors.PosterError),
        (errors.PosterNameInvalid, errors.PosterError),
        (errors.PosterBadStatus, errors.PosterError),
        (errors.PosterRefused, errors.PosterError),
        (errors.PosterError, errors.MetadataError),
        (errors.MetadataNotFound, errors.MetadataError),
        (errors.BgmtvError, errors.MetadataError),
        (errors.TmdbError, errors.MetadataError),
        (errors.NothingAnswered, errors.MetadataError),
        (errors.IndexRefused, errors.MetadataError),
    ],
)
def test_everything_that_goes_wrong_is_one_tree(error: type[KurabitoError], above: type[KurabitoError]) -> None:
    assert issubclass(error, above)
    assert error.code != above.code
