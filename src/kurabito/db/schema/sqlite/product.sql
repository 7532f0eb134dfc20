-- The product's tables on SQLite as they are once every migration was applied: to read, not to run. A test compares them.

-- Secrets are stored as hashes only: whoever reads the database cannot log in with what is in it.
CREATE TABLE api_keys (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    secret_hash  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
);

CREATE UNIQUE INDEX ix_api_keys_secret_hash ON api_keys (secret_hash);

-- Addresses that show the calendar and what arrived to those who know them, and nothing else. Only a hash of each is stored.
CREATE TABLE shared_addresses (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    token_hash   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    renewed_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
);

CREATE UNIQUE INDEX ix_shared_addresses_token_hash ON shared_addresses (token_hash);

CREATE TABLE passwords (
    user_name  TEXT NOT NULL PRIMARY KEY,
    hash       TEXT NOT NULL,
    changed_at INTEGER NOT NULL
);

CREATE TABLE sessions (
    token_hash TEXT NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

CREATE TABLE login_links (
    token_hash TEXT NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

-- Who touches the disks. A row is believed until expires_at.
CREATE TABLE data_planes (
    name         TEXT NOT NULL PRIMARY KEY,
    lines        TEXT NOT NULL,
    version      TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
);

-- Libraries, their files, and the jobs that work on them.
CREATE TABLE library_roots (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL UNIQUE,
    root_path       TEXT    NOT NULL UNIQUE,
    scan_interval   INTEGER,
    next_scan_at    INTEGER,
    watched         INTEGER NOT NULL DEFAULT 0 CHECK (watched IN (0, 1)),
    algorithm       TEXT    NOT NULL DEFAULT 'blake3' CHECK (algorithm IN ('blake3', 'sha256')),
    hash_policy     TEXT    NOT NULL DEFAULT 'candidates' CHECK (hash_policy IN ('candidates', 'all')),
    ignored         TEXT    NOT NULL DEFAULT '[]',
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    last_scanned_at INTEGER
);

CREATE TABLE jobs (
    id                  TEXT    NOT NULL PRIMARY KEY,
    kind                TEXT    NOT NULL CHECK (kind IN ('scan', 'hash', 'delete', 'thumbnail')),
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled', 'retryable')),
    library_id          INTEGER,
    task_id             TEXT,
    dry_run             INTEGER NOT NULL DEFAULT 1 CHECK (dry_run IN (0, 1)),
    payload             TEXT    NOT NULL DEFAULT '{}',
    total_items         INTEGER,
    processed_items     INTEGER NOT NULL DEFAULT 0,
    progress            REAL    NOT NULL DEFAULT 0,
    error_code          TEXT,
    error_message       TEXT,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
);

CREATE TABLE scan_sessions (
    id               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    job_id           TEXT,
    library_id       INTEGER,
    status           TEXT    NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'succeeded', 'failed')),
    total_paths      INTEGER,
    files_seen       INTEGER NOT NULL DEFAULT 0,
    directories_seen INTEGER NOT NULL DEFAULT 0,
    bytes_seen       INTEGER NOT NULL DEFAULT 0,
    added_count      INTEGER NOT NULL DEFAULT 0,
    changed_count    INTEGER NOT NULL DEFAULT 0,
    moved_count      INTEGER NOT NULL DEFAULT 0,
    removed_count    INTEGER NOT NULL DEFAULT 0,
    error_count      INTEGER NOT NULL DEFAULT 0,
    resume_after     TEXT,
    error_code       TEXT,
    error_message    TEXT,
    started_at       INTEGER NOT NULL,
    finished_at      INTEGER
);

CREATE TABLE library_files (
    id                 INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    library_id         INTEGER NOT NULL,
    relative_path      TEXT    NOT NULL,
    size_bytes         INTEGER NOT NULL,
    mtime_ns           INTEGER NOT NULL,
    inode              INTEGER,
    device             INTEGER,
    edge_hash          BLOB,
    hashed_size_bytes  INTEGER,
    hashed_mtime_ns    INTEGER,
    hashed_at          INTEGER,
    hash_error_count   INTEGER NOT NULL DEFAULT 0,
    hash_last_error    TEXT,
    hash_last_error_at INTEGER,
    hash_retry_after   INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    is_missing         INTEGER NOT NULL DEFAULT 0 CHECK (is_missing IN (0, 1)),
    needs_hash         INTEGER NOT NULL DEFAULT 1 CHECK (needs_hash IN (0, 1)),
    hash_algorithm     TEXT CHECK (hash_algorithm IN ('blake3', 'sha256')),
    content_hash       BLOB,
    shared_inode       INTEGER
);

-- One scan or hash at a time, whoever asks.
CREATE UNIQUE INDEX ix_jobs_single_active_scan_hash ON jobs ((1))
    WHERE lower(status) IN ('pending', 'running') AND lower(kind) IN ('scan', 'hash');
CREATE INDEX ix_jobs_created_id ON jobs (created_at, id);
CREATE INDEX ix_jobs_waiting ON jobs (created_at, id) WHERE status = 'pending';
CREATE INDEX ix_jobs_lease ON jobs (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_jobs_retryable ON jobs (created_at, id) WHERE status = 'retryable';
CREATE INDEX ix_jobs_task ON jobs (task_id) WHERE task_id IS NOT NULL;

CREATE INDEX ix_scan_sessions_job ON scan_sessions (job_id);

-- In this order a scan walks, and so it compares what is there with what is known in one pass.
CREATE UNIQUE INDEX ix_library_files_path ON library_files (library_id, relative_path);

-- What a scan found and decides about at its end only: files that were added, and files that were not seen.
CREATE TABLE scan_findings (
    session_id INTEGER NOT NULL,
    finding    TEXT    NOT NULL CHECK (finding IN ('added', 'unseen')),
    file_id    INTEGER NOT NULL,
    PRIMARY KEY (session_id, finding, file_id)
) WITHOUT ROWID;

CREATE INDEX ix_library_files_dedup_group ON library_files (hash_algorithm, content_hash, id)
    WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

-- The files that count when duplicates are looked for.
CREATE VIEW hashed_files AS
SELECT id, library_id, relative_path, size_bytes, mtime_ns, device, coalesce(shared_inode, inode) AS inode, hash_algorithm,
       content_hash
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

CREATE INDEX ix_library_files_copies ON library_files (hash_algorithm, content_hash, device, coalesce(shared_inode, inode))
    WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;

-- What the pages of duplicates read, so that the thousandth costs what the first one does. Kept by triggers, so that it is
-- right whoever writes the files. Each takes one file into account and looks at no others of its group: there may be a
-- hundred thousand. `copies` counts hard links to the same file once, and so files that
-- share their blocks.
CREATE TABLE duplicate_groups (
    hash_algorithm   TEXT    NOT NULL,
    content_hash     BLOB    NOT NULL,
    file_count       INTEGER NOT NULL,
    total_size_bytes INTEGER NOT NULL,
    copies           INTEGER NOT NULL,
    PRIMARY KEY (hash_algorithm, content_hash)
) WITHOUT ROWID;

CREATE INDEX ix_duplicate_groups_order
    ON duplicate_groups (file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash) WHERE file_count > 1;
CREATE INDEX ix_duplicate_groups_reclaimable
    ON duplicate_groups (file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash) WHERE copies > 1;

CREATE TRIGGER tr_library_files_joined
AFTER UPDATE OF is_missing, needs_hash, hash_algorithm, content_hash, size_bytes, device, inode, shared_inode ON library_files
WHEN new.is_missing = 0 AND new.needs_hash = 0 AND new.hash_algorithm IS NOT NULL AND new.content_hash IS NOT NULL
BEGIN
    INSERT INTO duplicate_groups VALUES (new.hash_algorithm, new.content_hash, 1, new.size_bytes, 1)
    ON CONFLICT DO UPDATE SET
        file_count = file_count + 1,
        total_size_bytes = total_size_bytes + new.size_bytes,
        copies = copies + NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = new.hash_algorithm AND other.content_hash = new.content_hash
              AND other.device = new.device AND other.inode = coalesce(new.shared_inode, new.inode) AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_left
AFTER UPDATE OF is_missing, needs_hash, hash_algorithm, content_hash, size_bytes, device, inode, shared_inode ON library_files
WHEN old.is_missing = 0 AND old.needs_hash = 0 AND old.hash_algorithm IS NOT NULL AND old.content_hash IS NOT NULL
BEGIN
    UPDATE duplicate_groups SET
        file_count = file_count - 1,
        total_size_bytes = total_size_bytes - old.size_bytes,
        copies = copies - NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = old.hash_algorithm AND other.content_hash = old.content_hash
              AND other.device = old.device AND other.inode = coalesce(old.shared_inode, old.inode) AND other.id <> old.id
        )
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash;
    DELETE FROM duplicate_groups
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash AND file_count = 0;
END;

CREATE TRIGGER tr_library_files_deleted AFTER DELETE ON library_files
WHEN old.is_missing = 0 AND old.needs_hash = 0 AND old.hash_algorithm IS NOT NULL AND old.content_hash IS NOT NULL
BEGIN
    UPDATE duplicate_groups SET
        file_count = file_count - 1,
        total_size_bytes = total_size_bytes - old.size_bytes,
        copies = copies - NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = old.hash_algorithm AND other.content_hash = old.content_hash
              AND other.device = old.device AND other.inode = coalesce(old.shared_inode, old.inode) AND other.id <> old.id
        )
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash;
    DELETE FROM duplicate_groups
    WHERE hash_algorithm = old.hash_algorithm AND content_hash = old.content_hash AND file_count = 0;
END;

-- Files whose content may be that of another one of their size.
CREATE INDEX ix_library_files_twins ON library_files (size_bytes, edge_hash)
    WHERE is_missing = 0 AND (edge_hash IS NOT NULL OR content_hash IS NOT NULL);

-- What a hash would find in a library: files that nobody tried to read yet, and those that are to be tried again.
CREATE INDEX ix_library_files_unread ON library_files (library_id, id)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NULL;
CREATE INDEX ix_library_files_unreadable ON library_files (library_id, id)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_retry_after IS NOT NULL;
CREATE INDEX ix_library_files_read_again ON library_files (library_id, hash_retry_after)
    WHERE needs_hash = 1 AND is_missing = 0 AND hash_error_count > 0;

-- Whether anything may be removed, as the control plane was told when it started. Data planes read it before they claim a job
-- that removes something, and before each step. Without a row nothing may.
CREATE TABLE deletion_policy (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    allow_delete INTEGER NOT NULL CHECK (allow_delete IN (0, 1)),
    updated_at   INTEGER NOT NULL
);

-- What is to be removed, decided before anything is touched. A data plane reads it and can change none of it.
CREATE TABLE deletion_plans (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    mode        TEXT    NOT NULL CHECK (mode IN ('trash', 'hardlink', 'reflink')),
    rules       TEXT    NOT NULL,
    group_count INTEGER NOT NULL,
    file_count  INTEGER NOT NULL,
    freed_bytes INTEGER NOT NULL,
    is_complete INTEGER NOT NULL CHECK (is_complete IN (0, 1)),
    created_at  INTEGER NOT NULL,
    applied_at  INTEGER,
    job_id      TEXT
);

CREATE TABLE deletion_steps (
    plan_id         INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    file_id         INTEGER NOT NULL,
    library_id      INTEGER NOT NULL,
    relative_path   TEXT    NOT NULL,
    size_bytes      INTEGER NOT NULL,
    mtime_ns        INTEGER NOT NULL,
    hash_algorithm  TEXT    NOT NULL CHECK (hash_algorithm IN ('blake3', 'sha256')),
    content_hash    BLOB    NOT NULL,
    kept_file_id    INTEGER NOT NULL,
    kept_library_id INTEGER NOT NULL,
    kept_path       TEXT    NOT NULL,
    kept_mtime_ns   INTEGER NOT NULL,
    reason          TEXT    NOT NULL,
    PRIMARY KEY (plan_id, position)
) WITHOUT ROWID;

CREATE UNIQUE INDEX ix_deletion_steps_file ON deletion_steps (plan_id, file_id);

-- What a data plane is about to do to a file, and what became of it.
CREATE TABLE deletion_log (
    id              TEXT    NOT NULL PRIMARY KEY,
    job_id          TEXT    NOT NULL,
    plan_id         INTEGER,
    position        INTEGER NOT NULL,
    action          TEXT    NOT NULL CHECK (action IN ('trash', 'hardlink', 'reflink', 'restore', 'purge')),
    state           TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'refused', 'checked')),
    library_id      INTEGER NOT NULL,
    relative_path   TEXT    NOT NULL,
    kept_library_id INTEGER,
    kept_path       TEXT,
    trash_path      TEXT,
    error_code      TEXT,
    error_message   TEXT,
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER
);

CREATE UNIQUE INDEX ix_deletion_log_step ON deletion_log (job_id, position);
CREATE INDEX ix_deletion_log_intent ON deletion_log (library_id, relative_path) WHERE state = 'intent';
CREATE INDEX ix_deletion_log_kept ON deletion_log (kept_library_id, kept_path) WHERE state = 'intent';

-- What was moved to the trash. An entry has the id of the step that moved it.
CREATE TABLE trash_entries (
    id             TEXT    NOT NULL PRIMARY KEY,
    file_id        INTEGER NOT NULL,
    library_id     INTEGER NOT NULL,
    relative_path  TEXT    NOT NULL,
    trash_path     TEXT    NOT NULL,
    size_bytes     INTEGER NOT NULL,
    hash_algorithm TEXT    NOT NULL CHECK (hash_algorithm IN ('blake3', 'sha256')),
    content_hash   BLOB    NOT NULL,
    trashed_at     INTEGER NOT NULL,
    left_as        TEXT CHECK (left_as IN ('restored', 'purged')),
    left_at        INTEGER,
    -- What took its place; it may go for good while that is there.
    successor_path TEXT,
    -- Its keeper deleted it, so no copy of it has to be there when it is purged.
    is_discarded   INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX ix_trash_entries_held ON trash_entries (trashed_at, id) WHERE left_at IS NULL;
CREATE INDEX ix_trash_entries_time ON trash_entries (trashed_at, id);
CREATE INDEX ix_trash_entries_file ON trash_entries (file_id);

-- What the pages read, so that each costs the same however much there is.
-- Groups by the room that keeping one copy would free.
CREATE INDEX ix_duplicate_groups_waste
    ON duplicate_groups ((total_size_bytes / file_count * (copies - 1)) DESC, hash_algorithm, content_hash) WHERE copies > 1;
-- The last scans of a library.
CREATE INDEX ix_jobs_scans ON jobs (library_id, created_at, id) WHERE kind = 'scan';
CREATE INDEX ix_scan_sessions_library ON scan_sessions (library_id, id);
-- What became of attempts to put a file back.
CREATE INDEX ix_deletion_log_restores ON deletion_log (library_id, relative_path, created_at) WHERE action = 'restore';

-- Services that registered themselves, and what each downloader can take.
CREATE TABLE service_modules (
    module_id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    service_type      TEXT    NOT NULL CHECK (service_type IN ('fetcher', 'downloader', 'viewer')),
    service_name      TEXT    NOT NULL,
    host              TEXT    NOT NULL,
    port              INTEGER NOT NULL,
    instance_id       TEXT    NOT NULL,
    token             TEXT    NOT NULL,
    fetch_endpoint    TEXT,
    download_endpoint TEXT,
    sync_endpoint     TEXT,
    priority          INTEGER NOT NULL DEFAULT 50,
    priority_is_set   INTEGER NOT NULL DEFAULT 0 CHECK (priority_is_set IN (0, 1)),
    is_enabled        INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    registered_at     INTEGER NOT NULL,
    last_seen_at      INTEGER NOT NULL,
    UNIQUE (service_type, service_name)
);

CREATE TABLE downloader_capabilities (
    module_id     INTEGER NOT NULL REFERENCES service_modules (module_id) ON DELETE CASCADE,
    download_type TEXT    NOT NULL CHECK (download_type IN ('magnet', 'torrent', 'http')),
    PRIMARY KEY (module_id, download_type)
);

-- What releases are about. A series is one season of one show, or a film.
CREATE TABLE series (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    title          TEXT    NOT NULL,
    season         INTEGER NOT NULL DEFAULT 1,
    kind           TEXT    NOT NULL DEFAULT 'tv' CHECK (kind IN ('tv', 'movie')),
    year           INTEGER,
    episode_offset INTEGER NOT NULL DEFAULT 0,
    state          TEXT    NOT NULL DEFAULT 'followed' CHECK (state IN ('followed', 'asked', 'ignored')),
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
);

CREATE INDEX ix_series_state ON series (state, id);
CREATE INDEX ix_series_offset ON series (episode_offset) WHERE episode_offset > 0;

-- The names of series, folded to letters and digits, each with what titles say beside it: the season (1 if they say none), the
-- year (0) and the country (''). They lead two seasons, a remake and its original, and two versions of one show apart.
CREATE TABLE series_aliases (
    folded     TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    season     INTEGER NOT NULL,
    year       INTEGER NOT NULL DEFAULT 0,
    country    TEXT    NOT NULL DEFAULT '',
    name       TEXT    NOT NULL,
    romaji     TEXT,
    source     TEXT    NOT NULL DEFAULT 'earlier' CHECK (source IN ('earlier', 'title', 'record', 'keeper')),
    series_id  INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    PRIMARY KEY (folded, kind, season, year, country)
);

CREATE INDEX ix_series_aliases_series ON series_aliases (series_id);
CREATE INDEX ix_series_aliases_romaji ON series_aliases (romaji) WHERE romaji IS NOT NULL;

CREATE TABLE episodes (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    series_id  INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL
        CHECK (kind IN ('tv', 'movie', 'ova', 'special', 'opening', 'ending', 'trailer')),
    number     REAL    NOT NULL,
    state      TEXT    NOT NULL DEFAULT 'wanted' CHECK (state IN ('have', 'downloading', 'wanted')),
    aired_at   INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- Its keeper does not want it, whatever is wanted of its series.
    is_unwanted INTEGER NOT NULL DEFAULT 0,
    UNIQUE (series_id, kind, number)
);

-- Who releases.
CREATE TABLE groups (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    folded     TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
);

-- What a user says of titles that are read wrongly.
CREATE TABLE title_rules (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    condition  TEXT    NOT NULL,
    parse      TEXT    NOT NULL,
    fields     TEXT    NOT NULL DEFAULT '{}',
    priority   INTEGER NOT NULL DEFAULT 50,
    is_enabled INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

-- Feeds that are followed. Without a module the built-in fetcher reads them; without a series they are about many.
CREATE TABLE subscriptions (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    url             TEXT    NOT NULL UNIQUE,
    module_id       INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    series_id       INTEGER REFERENCES series (id) ON DELETE SET NULL,
    new_series      TEXT    NOT NULL DEFAULT 'ask' CHECK (new_series IN ('add', 'ask')),
    start_with      TEXT    NOT NULL DEFAULT 'now' CHECK (start_with IN ('now', 'missing', 'chosen')),
    fetch_interval  INTEGER NOT NULL,
    is_enabled      INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    allows_private  INTEGER NOT NULL DEFAULT 0 CHECK (allows_private IN (0, 1)),
    etag            TEXT,
    last_modified   TEXT,
    next_fetch_at   INTEGER,
    last_fetched_at INTEGER,
    last_success_at INTEGER,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    -- Of the items that were in the feed before, those that are wanted: guids or URLs, a JSON list.
    chosen          TEXT    NOT NULL DEFAULT '[]',
    conflict_policy TEXT    NOT NULL DEFAULT 'best' CHECK (conflict_policy IN ('best', 'first', 'ask')),
    upgrade         INTEGER NOT NULL DEFAULT 0 CHECK (upgrade IN (0, 1)),
    wait_minutes    INTEGER NOT NULL DEFAULT 0,
    preferences     TEXT    NOT NULL DEFAULT '{}',
    -- The show that it was followed for, and since when it is not read because that show is over and complete.
    show_id         INTEGER REFERENCES series (id) ON DELETE SET NULL,
    finished_at     INTEGER
);

CREATE INDEX ix_subscriptions_due ON subscriptions (next_fetch_at) WHERE is_enabled = 1;
CREATE INDEX ix_subscriptions_series ON subscriptions (series_id) WHERE series_id IS NOT NULL;
CREATE INDEX ix_subscriptions_show ON subscriptions (show_id) WHERE show_id IS NOT NULL;

-- What feeds gave, as it came. An item's release_key is that of the links that are about it.
CREATE TABLE raw_anime_items (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    identity        TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    description     TEXT,
    download_url    TEXT,
    pub_date        INTEGER,
    size_bytes      INTEGER,
    info_hash       TEXT,
    fetcher_source  TEXT,
    status          TEXT    NOT NULL CHECK (status IN ('parsed', 'failed', 'skipped')),
    reason          TEXT,
    release_key     TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    UNIQUE (subscription_id, identity)
);

CREATE INDEX ix_raw_anime_items_status ON raw_anime_items (status, id);
CREATE INDEX ix_raw_anime_items_subscription ON raw_anime_items (subscription_id, id);

-- One downloadable release of one episode; a batch has a link for each. Links of one release share its release_key: the hash, or
-- the URL's own while the hash is not known.
CREATE TABLE anime_links (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_key   TEXT    NOT NULL,
    raw_item_id   INTEGER REFERENCES raw_anime_items (id) ON DELETE SET NULL,
    series_id     INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    episode_id    INTEGER REFERENCES episodes (id) ON DELETE CASCADE,
    group_id      INTEGER REFERENCES groups (id),
    title         TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    hash          TEXT,
    download_type TEXT CHECK (download_type IN ('magnet', 'torrent', 'http')),
    resolution    INTEGER,
    source        TEXT,
    languages     TEXT    NOT NULL DEFAULT '[]',
    version       INTEGER,
    size_bytes    INTEGER,
    is_batch      INTEGER NOT NULL DEFAULT 0 CHECK (is_batch IN (0, 1)),
    is_filtered   INTEGER NOT NULL DEFAULT 0 CHECK (is_filtered IN (0, 1)),
    filter_reason TEXT,
    created_at    INTEGER NOT NULL
);

CREATE UNIQUE INDEX ix_anime_links_release_episode ON anime_links (release_key, episode_id);
CREATE UNIQUE INDEX ix_anime_links_release_whole ON anime_links (release_key) WHERE episode_id IS NULL;
CREATE INDEX ix_anime_links_series ON anime_links (series_id, id);
CREATE INDEX ix_anime_links_episode ON anime_links (episode_id);
CREATE INDEX ix_anime_links_raw_item ON anime_links (raw_item_id);
CREATE INDEX ix_anime_links_group ON anime_links (group_id, id);
-- What is known of a show or a film, wherever it came from.
CREATE TABLE metadata (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('tv', 'web', 'ova', 'movie')),
    title_japanese  TEXT,
    title_chinese   TEXT,
    title_english   TEXT,
    year            INTEGER,
    season          INTEGER,
    air_date        TEXT,
    air_weekday     INTEGER CHECK (air_weekday BETWEEN 1 AND 7),
    episode_count   INTEGER,
    summary         TEXT,
    poster_url      TEXT,
    bgm_id          INTEGER,
    tmdb_id         INTEGER,
    tmdb_kind       TEXT CHECK (tmdb_kind IN ('tv', 'movie')),
    tmdb_season     INTEGER,
    tmdb_lookup_at  INTEGER,
    tmdb_candidates TEXT    NOT NULL DEFAULT '[]',
    anidb_id        INTEGER,
    anilist_id      INTEGER,
    mal_id          INTEGER,
    mikan_id        INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    -- Where its poster is: when that was last asked for.
    poster_lookup_at INTEGER
);

CREATE UNIQUE INDEX ix_metadata_bgm ON metadata (bgm_id) WHERE bgm_id IS NOT NULL;
CREATE INDEX ix_metadata_tmdb ON metadata (tmdb_id) WHERE tmdb_id IS NOT NULL;
-- What a sync has to look at; with both of them it sees without reading a record that nothing is to be done.
CREATE INDEX ix_metadata_remote_poster ON metadata (id)
    WHERE poster_url IS NOT NULL AND poster_url <> '' AND substr(poster_url, 1, 9) <> '/posters/';
CREATE INDEX ix_metadata_without_tmdb ON metadata (tmdb_lookup_at, id)
    WHERE tmdb_id IS NULL AND title_japanese IS NOT NULL AND title_japanese <> '';
CREATE INDEX ix_metadata_without_poster ON metadata (poster_lookup_at, id)
    WHERE (poster_url IS NULL OR poster_url = '') AND (bgm_id IS NOT NULL OR tmdb_id IS NOT NULL);
CREATE INDEX ix_metadata_western ON metadata (tmdb_lookup_at, id)
    WHERE tmdb_id IS NULL AND (title_japanese IS NULL OR title_japanese = '') AND title_english <> '';

-- The pages of TMDB's lists that were read today: a restart, or a page that failed, costs no page a second time.
CREATE TABLE tmdb_pages (
    kind    TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    year    INTEGER NOT NULL,
    page    INTEGER NOT NULL,
    pages   INTEGER NOT NULL,
    titles  TEXT    NOT NULL,
    read_at INTEGER NOT NULL,
    PRIMARY KEY (kind, year, page)
);

-- How the services and the index are that metadata comes from: the last time each answered, and the last time it failed.
CREATE TABLE metadata_sources (
    name          TEXT NOT NULL PRIMARY KEY,
    succeeded_at  INTEGER,
    failed_at     INTEGER,
    error_code    TEXT,
    error_message TEXT
);

-- The last import of the offline index, and what of its file could not be taken. One row at most.
CREATE TABLE index_imports (
    id            INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    imported_at   INTEGER NOT NULL,
    entries       INTEGER NOT NULL,
    unknown_kinds INTEGER NOT NULL,
    bad_rows      INTEGER NOT NULL,
    origin        TEXT    NOT NULL
);

-- What is on this week, as bgm.tv said last.
CREATE TABLE calendar_entries (
    metadata_id  INTEGER NOT NULL PRIMARY KEY,
    weekday      INTEGER NOT NULL CHECK (weekday BETWEEN 1 AND 7),
    place        INTEGER NOT NULL,
    refreshed_at INTEGER NOT NULL
);

CREATE INDEX ix_calendar_entries_day ON calendar_entries (weekday, place);

-- Ids that are known without asking anybody, from a file that was imported.
CREATE TABLE offline_entries (
    id            INTEGER NOT NULL PRIMARY KEY,
    kind          TEXT    NOT NULL CHECK (kind IN ('tv', 'web', 'ova', 'movie')),
    title         TEXT    NOT NULL,
    title_chinese TEXT,
    title_english TEXT,
    language      TEXT    NOT NULL,
    air_date      TEXT,
    air_weekday   INTEGER,
    year          INTEGER,
    bgm_id        INTEGER,
    tmdb_id       INTEGER,
    tmdb_kind     TEXT CHECK (tmdb_kind IN ('tv', 'movie')),
    tmdb_season   INTEGER,
    anidb_id      INTEGER,
    anilist_id    INTEGER,
    mal_id        INTEGER,
    mikan_id      INTEGER,
    source        TEXT NOT NULL DEFAULT 'bangumi-data',
    episode_count INTEGER,
    -- The entries that tell one story have the same; those that stand alone have none.
    franchise_id  INTEGER
);

CREATE INDEX ix_offline_entries_bgm ON offline_entries (bgm_id);
CREATE INDEX ix_offline_entries_mikan ON offline_entries (mikan_id) WHERE mikan_id IS NOT NULL;
CREATE INDEX ix_offline_entries_air_date ON offline_entries (air_date, id);
CREATE INDEX ix_offline_entries_franchise ON offline_entries (franchise_id) WHERE franchise_id IS NOT NULL;
CREATE INDEX ix_offline_entries_anidb ON offline_entries (anidb_id) WHERE anidb_id IS NOT NULL;
CREATE INDEX ix_offline_entries_mal ON offline_entries (mal_id) WHERE mal_id IS NOT NULL;

-- Every name of an entry, folded, so that spelling alone keeps nothing apart.
CREATE TABLE offline_titles (
    folded        TEXT    NOT NULL,
    entry_id      INTEGER NOT NULL,
    -- Which source has the name, and in which language; x-jat is Japanese in Latin letters.
    name_source   TEXT NOT NULL DEFAULT 'bangumi-data',
    name_language TEXT,
    PRIMARY KEY (folded, entry_id)
) WITHOUT ROWID;

CREATE INDEX ix_offline_titles_entry ON offline_titles (entry_id, folded);

-- The sound of each name in Latin letters, however it is spelled: it finds what the names themselves do not.
CREATE TABLE offline_romaji (
    sound    TEXT    NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (sound, entry_id)
) WITHOUT ROWID;

-- What is told of a record beside its poster and its ids, and when its sources are asked again.
CREATE TABLE metadata_extras (
    metadata_id  INTEGER NOT NULL PRIMARY KEY REFERENCES metadata (id) ON DELETE CASCADE,
    asked_by     TEXT    NOT NULL,
    summaries    TEXT    NOT NULL,
    backdrop_url TEXT,
    ended_on     TEXT,
    failures     INTEGER NOT NULL,
    refreshed_at INTEGER,
    due_at       INTEGER NOT NULL
);

-- The pictures that are still somewhere else.
CREATE INDEX ix_metadata_extras_remote_backdrop ON metadata_extras (metadata_id)
    WHERE backdrop_url IS NOT NULL AND substr(backdrop_url, 1, 9) <> '/posters/';

-- The dumps that were imported beside bangumi-data, and when.
CREATE TABLE offline_imports (
    source      TEXT    NOT NULL PRIMARY KEY,
    file_name   TEXT    NOT NULL,
    entries     INTEGER NOT NULL,
    skipped     INTEGER NOT NULL,
    imported_at INTEGER NOT NULL,
    -- Which rows of offline_dumps it is made of, and when the index was made of it; NULL while that is not done.
    edition     INTEGER NOT NULL DEFAULT 0,
    joined_at   INTEGER
);

-- What each dump says of each of its entries. The index is made of them again after every import.
CREATE TABLE offline_dumps (
    source TEXT    NOT NULL,
    number INTEGER NOT NULL,
    facts  TEXT    NOT NULL,
    PRIMARY KEY (source, number)
) WITHOUT ROWID;

-- Which number the first episode of an entry has, by a source: in a season of TMDB, or through all seasons.
CREATE TABLE offline_offsets (
    entry_id INTEGER NOT NULL,
    source   TEXT    NOT NULL,
    season   INTEGER,
    first    INTEGER NOT NULL,
    PRIMARY KEY (entry_id, source)
) WITHOUT ROWID;

-- The episodes of an entry as one source lists them.
CREATE TABLE episode_lists (
    source   TEXT    NOT NULL,
    entry    TEXT    NOT NULL,
    episodes TEXT    NOT NULL,
    read_at  INTEGER NOT NULL,
    PRIMARY KEY (source, entry)
) WITHOUT ROWID;

-- Pictures of files. The control plane admits a row with everything that decides what is drawn and where; a data plane draws it.
CREATE TABLE thumbnails (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    thumb_key           TEXT    NOT NULL UNIQUE,
    file_id             INTEGER NOT NULL,
    group_key           TEXT    NOT NULL,
    media_type          TEXT    NOT NULL CHECK (media_type IN ('image', 'video')),
    format              TEXT    NOT NULL CHECK (format IN ('jpeg', 'webp')),
    max_dimension       INTEGER NOT NULL CHECK (max_dimension BETWEEN 16 AND 4096),
    source_size_bytes   INTEGER NOT NULL,
    source_mtime_ns     INTEGER NOT NULL,
    output_path         TEXT    NOT NULL UNIQUE,
    status              TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'ready', 'failed')),
    width               INTEGER,
    height              INTEGER,
    bytes_size          INTEGER,
    error_code          TEXT,
    error_message       TEXT,
    error_count         INTEGER NOT NULL DEFAULT 0,
    retry_after         INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
);

CREATE INDEX ix_thumbnails_waiting ON thumbnails (media_type, created_at, id) WHERE status = 'pending';
CREATE INDEX ix_thumbnails_lease ON thumbnails (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_thumbnails_retry ON thumbnails (retry_after, id) WHERE status = 'failed';
CREATE INDEX ix_thumbnails_group ON thumbnails (group_key, id);
CREATE INDEX ix_thumbnails_file ON thumbnails (file_id);

-- What is asked for or being drawn stays, whoever deletes.
CREATE TRIGGER tr_thumbnails_kept BEFORE DELETE ON thumbnails WHEN old.status IN ('pending', 'running')
BEGIN
    SELECT RAISE(IGNORE);
END;

-- The pictures of a group that are to be removed after a while.
CREATE TABLE thumbnail_cleanup_jobs (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    group_key           TEXT    NOT NULL,
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    execute_after       INTEGER NOT NULL,
    error_code          TEXT,
    error_message       TEXT,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    finished_at         INTEGER
);

CREATE UNIQUE INDEX ux_thumbnail_cleanup_jobs_active ON thumbnail_cleanup_jobs (group_key)
    WHERE status IN ('pending', 'running');
CREATE INDEX ix_thumbnail_cleanup_jobs_due ON thumbnail_cleanup_jobs (execute_after, id) WHERE status = 'pending';
CREATE INDEX ix_thumbnail_cleanup_jobs_lease ON thumbnail_cleanup_jobs (lease_expires_at) WHERE status = 'running';

-- When the next read may begin, for everybody who reads under the same limit. How fast that is, is a setting.
CREATE TABLE io_rate_limits (
    bucket_key           TEXT    NOT NULL PRIMARY KEY,
    next_available_at_ms INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL
);

-- Checkpoints that were asked for: SQLite's log is moved into its file. The control plane asks, a data plane does it.
CREATE TABLE wal_maintenance_jobs (
    id                    INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    requested_mode        TEXT    NOT NULL CHECK (requested_mode IN ('passive', 'restart', 'truncate')),
    reason                TEXT    NOT NULL,
    status                TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'retryable', 'completed', 'failed')),
    execute_after         INTEGER NOT NULL,
    retry_count           INTEGER NOT NULL DEFAULT 0,
    retry_after           INTEGER,
    checkpoint_busy       INTEGER,
    checkpoint_log_frames INTEGER,
    checkpointed_frames   INTEGER,
    error_code            TEXT,
    error_message         TEXT,
    worker_id             TEXT,
    worker_heartbeat_at   INTEGER,
    lease_expires_at      INTEGER,
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    started_at            INTEGER,
    finished_at           INTEGER
);

-- A second one would find nothing to do that the first has not done.
CREATE UNIQUE INDEX ux_wal_maintenance_jobs_active ON wal_maintenance_jobs ((1))
    WHERE status IN ('pending', 'running', 'retryable');

-- A download is one dispatch of one link, through whichever downloader took it.
CREATE TABLE downloads (
    id               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    link_id          INTEGER NOT NULL REFERENCES anime_links (id) ON DELETE CASCADE,
    module_id        INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    status           TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN
        ('pending', 'downloading', 'completed', 'failed', 'cancelled', 'downloader_error', 'no_downloader')),
    hash             TEXT,
    save_path        TEXT,
    progress         REAL    NOT NULL DEFAULT 0,
    size_bytes       INTEGER,
    downloaded_bytes INTEGER NOT NULL DEFAULT 0,
    rate             INTEGER,
    peers            INTEGER,
    detail           TEXT,
    reason           TEXT,
    avoids_module_id INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    missed_polls     INTEGER NOT NULL DEFAULT 0,
    queued_at        INTEGER NOT NULL,
    progressed_at    INTEGER,
    completed_at     INTEGER,
    forgotten_at     INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    has_stalled      INTEGER NOT NULL DEFAULT 0 CHECK (has_stalled IN (0, 1)),
    owner            TEXT CHECK (owner IN ('kurabito', 'user')),
    tries            INTEGER NOT NULL DEFAULT 0,
    retry_at         INTEGER,
    given_back_at    INTEGER,
    rescues          INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX ux_downloads_active_link ON downloads (link_id)
    WHERE status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX ix_downloads_link ON downloads (link_id, status);
CREATE INDEX ix_downloads_module ON downloads (module_id, id);
CREATE INDEX ix_downloads_module_status ON downloads (module_id, status, id);
CREATE INDEX ix_downloads_status ON downloads (status, id);
CREATE INDEX ix_downloads_hash ON downloads (hash, module_id, status);
CREATE INDEX ix_downloads_created ON downloads (created_at, id);
CREATE INDEX ix_downloads_completed ON downloads (completed_at, id) WHERE completed_at IS NOT NULL;
CREATE INDEX ix_downloads_failed ON downloads (updated_at, id) WHERE status = 'failed';
CREATE INDEX ix_downloads_cancelled ON downloads (updated_at, id) WHERE status = 'cancelled';
CREATE INDEX ix_downloads_forgotten ON downloads (forgotten_at, id) WHERE forgotten_at IS NOT NULL;

-- Written before anything is sent. `owed` is what has still to be cleared up at that downloader.
CREATE TABLE dispatch_attempts (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    download_id INTEGER NOT NULL REFERENCES downloads (id) ON DELETE CASCADE,
    module_id   INTEGER REFERENCES service_modules (module_id) ON DELETE SET NULL,
    module_name TEXT    NOT NULL,
    hash        TEXT,
    outcome     TEXT    NOT NULL CHECK (outcome IN ('sent', 'accepted', 'rejected', 'unreachable', 'unclear')),
    reason      TEXT,
    owed        TEXT CHECK (owed IN ('look', 'cancel', 'delete', 'delete_files')),
    sent_at     INTEGER NOT NULL,
    answered_at INTEGER,
    save_path   TEXT,
    missed_polls INTEGER NOT NULL DEFAULT 0,
    owner       TEXT CHECK (owner IN ('kurabito', 'user')),
    may_pass    INTEGER NOT NULL DEFAULT 0 CHECK (may_pass IN (0, 1))
);

CREATE INDEX ix_dispatch_attempts_download ON dispatch_attempts (download_id, id);
CREATE INDEX ix_dispatch_attempts_owed ON dispatch_attempts (module_id) WHERE owed IS NOT NULL;
CREATE INDEX ix_dispatch_attempts_hash ON dispatch_attempts (hash, module_id);
CREATE INDEX ix_dispatch_attempts_sent ON dispatch_attempts (sent_at) WHERE outcome = 'sent';
CREATE INDEX ix_dispatch_attempts_accepted ON dispatch_attempts (sent_at, id) WHERE outcome = 'accepted';

-- The files of a download, as its downloader told them when it was complete. A path lies below `downloads.save_path`, which is
-- the folder where they really are.
CREATE TABLE download_files (
    download_id INTEGER NOT NULL REFERENCES downloads (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    path        TEXT    NOT NULL,
    size_bytes  INTEGER NOT NULL,
    is_wanted   INTEGER NOT NULL CHECK (is_wanted IN (0, 1)),
    is_complete INTEGER NOT NULL CHECK (is_complete IN (0, 1)),
    PRIMARY KEY (download_id, position)
) WITHOUT ROWID;

-- The same folder as the core and as a downloader see it.
CREATE TABLE path_maps (
    module_id         INTEGER NOT NULL REFERENCES service_modules (module_id) ON DELETE CASCADE,
    core_prefix       TEXT    NOT NULL,
    downloader_prefix TEXT    NOT NULL,
    PRIMARY KEY (module_id, core_prefix)
);

-- Which links are taken. Without a target a fetcher's rule is about the built-in one.
CREATE TABLE filter_rules (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL,
    rule_order  INTEGER NOT NULL DEFAULT 0,
    action      TEXT    NOT NULL CHECK (action IN ('include', 'exclude')),
    target_type TEXT    NOT NULL CHECK (target_type IN ('global', 'series', 'group', 'fetcher', 'subscription')),
    target_id   INTEGER,
    pattern     TEXT,
    fields      TEXT    NOT NULL DEFAULT '{}',
    is_enabled  INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
);

-- An episode whose release is still to be chosen: by its keeper, or by us when the wait is over.
CREATE TABLE conflicts (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    status     TEXT    NOT NULL CHECK (status IN ('waiting', 'asked', 'resolved')),
    link_id    INTEGER REFERENCES anime_links (id) ON DELETE SET NULL,
    due_at     INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_conflicts_open ON conflicts (episode_id) WHERE status <> 'resolved';
CREATE INDEX ix_conflicts_status ON conflicts (status, id);
CREATE INDEX ix_conflicts_episode ON conflicts (episode_id);
CREATE INDEX ix_conflicts_link ON conflicts (link_id) WHERE link_id IS NOT NULL;

-- Every name of a record, folded, so that spelling alone keeps nothing apart.
CREATE TABLE metadata_titles (
    folded      TEXT    NOT NULL,
    metadata_id INTEGER NOT NULL REFERENCES metadata (id) ON DELETE CASCADE,
    PRIMARY KEY (folded, metadata_id)
) WITHOUT ROWID;

CREATE INDEX ix_metadata_titles_record ON metadata_titles (metadata_id);

-- The seasons of a show.
CREATE INDEX ix_offline_entries_tmdb ON offline_entries (tmdb_id, tmdb_season) WHERE tmdb_id IS NOT NULL;

-- The record that fills a series in.
ALTER TABLE series ADD COLUMN metadata_id INTEGER REFERENCES metadata (id) ON DELETE SET NULL;

CREATE INDEX ix_series_metadata ON series (metadata_id) WHERE metadata_id IS NOT NULL;
CREATE INDEX ix_series_without_record ON series (id) WHERE metadata_id IS NULL;

-- What a folder of a library is about. One that has no record and is not to be ignored waits for somebody to say.
CREATE TABLE folder_matches (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    library_id  INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder      TEXT    NOT NULL,
    reading     TEXT    NOT NULL,
    file_id     INTEGER NOT NULL,
    job_id      TEXT    NOT NULL,
    metadata_id INTEGER REFERENCES metadata (id) ON DELETE SET NULL,
    series_id   INTEGER REFERENCES series (id) ON DELETE SET NULL,
    matched_by  TEXT CHECK (matched_by IN ('offline', 'online', 'keeper')),
    is_ignored  INTEGER NOT NULL DEFAULT 0 CHECK (is_ignored IN (0, 1)),
    reasons     TEXT    NOT NULL DEFAULT '[]',
    candidates  TEXT    NOT NULL DEFAULT '[]',
    asked_at    INTEGER,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (library_id, folder)
);

CREATE INDEX ix_folder_matches_open ON folder_matches (id) WHERE metadata_id IS NULL AND is_ignored = 0;
CREATE INDEX ix_folder_matches_left ON folder_matches (job_id) WHERE metadata_id IS NULL AND is_ignored = 0;
CREATE INDEX ix_folder_matches_ignored ON folder_matches (id) WHERE is_ignored = 1;
CREATE INDEX ix_folder_matches_record ON folder_matches (metadata_id, id) WHERE metadata_id IS NOT NULL;
CREATE INDEX ix_folder_matches_series ON folder_matches (series_id, id) WHERE series_id IS NOT NULL;

-- How far the folders of a library were looked at: every scan up to this one, every file up to this one.
CREATE TABLE folder_looks (
    library_id INTEGER NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    session_id INTEGER NOT NULL,
    file_id    INTEGER NOT NULL
);

-- What keepers chose for folders of a name: evidence for the next folder of that name.
CREATE TABLE chosen_names (
    folded      TEXT    NOT NULL,
    season      INTEGER NOT NULL,
    is_film     INTEGER NOT NULL CHECK (is_film IN (0, 1)),
    metadata_id INTEGER NOT NULL REFERENCES metadata (id) ON DELETE CASCADE,
    chosen_at   INTEGER NOT NULL,
    PRIMARY KEY (folded, season, is_film)
) WITHOUT ROWID;

CREATE INDEX ix_chosen_names_record ON chosen_names (metadata_id);

-- Removing a library takes a while where it has many files. From this moment on no work is begun in it.
ALTER TABLE library_roots ADD COLUMN removing_since INTEGER;

-- Which module a key speaks for: the one that it registered first. It keeps that until it is revoked.
CREATE TABLE module_keys (
    key_id       TEXT    NOT NULL PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
    service_type TEXT    NOT NULL CHECK (service_type IN ('fetcher', 'downloader', 'viewer')),
    service_name TEXT    NOT NULL,
    bound_at     INTEGER NOT NULL
);

CREATE INDEX ix_module_keys_module ON module_keys (service_type, service_name);

-- The settings that were changed while Kurabito ran: options and the environment win over them, they win over the file.
-- Values are JSON. Some are secrets, so a data plane has no right to read them.
CREATE TABLE stored_settings (
    name       TEXT    NOT NULL PRIMARY KEY,
    value      TEXT    NOT NULL,
    changed_at INTEGER NOT NULL
);

-- Which version of the planes' protocol this database speaks. Another major is another contract: a data plane that speaks it
-- is refused here, whatever program it is.
CREATE TABLE protocol_version (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    major      INTEGER NOT NULL,
    minor      INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

ALTER TABLE data_planes ADD COLUMN protocol TEXT NOT NULL DEFAULT '';
ALTER TABLE data_planes ADD COLUMN capabilities TEXT NOT NULL DEFAULT '[]';

-- A plane that names no version is of a release before it, or knows nothing of the protocol.
CREATE TRIGGER tr_data_planes_registered BEFORE INSERT ON data_planes
WHEN CAST(new.protocol AS INTEGER) <> (SELECT major FROM protocol_version)
BEGIN
    SELECT RAISE(ABORT, 'VER-2: this database speaks another major version of the protocol; see protocol_version');
END;
CREATE TRIGGER tr_data_planes_renewed BEFORE UPDATE OF protocol ON data_planes
WHEN CAST(new.protocol AS INTEGER) <> (SELECT major FROM protocol_version)
BEGIN
    SELECT RAISE(ABORT, 'VER-2: this database speaks another major version of the protocol; see protocol_version');
END;

-- The few scans that are under way, among all that ever were.
CREATE INDEX ix_scan_sessions_running ON scan_sessions (job_id) WHERE status = 'running';

-- What no program may write, and what only the control plane may. A data plane in any language opens this file, and
-- SQLite has no users: so triggers hold it to the protocol. Each refusal begins with the number of its rule.
--
-- A connection says that it is the control plane by what it answers: `sqlite_compileoption_used` is a function of
-- SQLite, which says 0 to every word that it does not know, and the control plane's connections have one of their own
-- that knows the word KURABITO_CONTROL_PLANE. The row is looked at first, so that a legal write asks nothing.

-- Forms: they hold for every program.

-- A scan inserts millions of rows, so that what is looked at is in the trigger that is there already: one more would cost as
-- much as all of its questions. Nearly no path passes the first of them, which is one function. A hash of another length may
-- come from a database that is taken over; it is as good as none, and the row is worth more.
CREATE TRIGGER tr_library_files_inserted AFTER INSERT ON library_files
WHEN new.content_hash IS NOT NULL OR new.hash_algorithm IS NOT NULL OR new.edge_hash IS NOT NULL OR new.size_bytes < 0
    OR new.updated_at > 99999999999999999
    OR (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'))
BEGIN
    SELECT RAISE(ABORT, 'PATH-1: relative_path is no path of a file below its library')
    WHERE (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'));
    SELECT RAISE(ABORT, 'HASH-1: a hash has 32 bytes and names its algorithm')
    WHERE ((new.content_hash IS NULL) <> (new.hash_algorithm IS NULL)
    OR new.content_hash IS NOT NULL AND length(new.content_hash) <> 32
    OR new.edge_hash IS NOT NULL AND length(new.edge_hash) <> 32)
    AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0;
    SELECT RAISE(ABORT, 'VALUE-2: a size is not negative') WHERE new.size_bytes < 0;
    SELECT RAISE(ABORT, 'VALUE-1: a time is in microseconds since 1970') WHERE new.updated_at > 99999999999999999;
    INSERT INTO duplicate_groups
    SELECT new.hash_algorithm, new.content_hash, 1, new.size_bytes, 1
    WHERE new.is_missing = 0 AND new.needs_hash = 0 AND new.hash_algorithm IS NOT NULL AND new.content_hash IS NOT NULL
    ON CONFLICT DO UPDATE SET
        file_count = file_count + 1,
        total_size_bytes = total_size_bytes + new.size_bytes,
        copies = copies + NOT EXISTS (
            SELECT 1 FROM hashed_files AS other
            WHERE other.hash_algorithm = new.hash_algorithm AND other.content_hash = new.content_hash
              AND other.device = new.device AND other.inode = coalesce(new.shared_inode, new.inode) AND other.id <> new.id
        );
END;

CREATE TRIGGER tr_library_files_path BEFORE UPDATE OF relative_path ON library_files
WHEN (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'))
BEGIN
    SELECT RAISE(ABORT, 'PATH-1: relative_path is no path of a file below its library');
END;

CREATE TRIGGER tr_library_files_hash BEFORE UPDATE OF content_hash, hash_algorithm, edge_hash ON library_files
WHEN (new.content_hash IS NULL) <> (new.hash_algorithm IS NULL)
    OR new.content_hash IS NOT NULL AND length(new.content_hash) <> 32
    OR new.edge_hash IS NOT NULL AND length(new.edge_hash) <> 32
    OR new.hash_algorithm <> (SELECT algorithm FROM library_roots WHERE id = new.library_id)
        AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'HASH-1: a hash has 32 bytes and names its algorithm')
    WHERE (new.content_hash IS NULL) <> (new.hash_algorithm IS NULL)
    OR new.content_hash IS NOT NULL AND length(new.content_hash) <> 32
    OR new.edge_hash IS NOT NULL AND length(new.edge_hash) <> 32;
    SELECT RAISE(ABORT, 'HASH-2: a file is hashed with the algorithm of its library');
END;

CREATE TRIGGER tr_library_files_size BEFORE UPDATE OF size_bytes ON library_files
WHEN new.size_bytes < 0
BEGIN
    SELECT RAISE(ABORT, 'VALUE-2: a size is not negative');
END;

CREATE TRIGGER tr_trash_entries_form BEFORE INSERT ON trash_entries
WHEN (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'))
    OR length(new.content_hash) <> 32 OR new.size_bytes < 0 OR NOT instr('/' || new.trash_path, '/.kurabito-trash/')
BEGIN
    SELECT RAISE(ABORT, 'PATH-1: relative_path is no path of a file below its library')
    WHERE (new.relative_path < '0' OR (new.relative_path || '/') GLOB '*/[./]*') AND (
        instr('/' || new.relative_path || '/', '/../') OR instr('/' || new.relative_path || '/', '/./')
        OR instr('/' || new.relative_path || '/', '//') OR instr('/' || new.relative_path, '/.kurabito-trash/'));
    SELECT RAISE(ABORT, 'HASH-1: a hash has 32 bytes and names its algorithm')
    WHERE length(new.content_hash) <> 32;
    SELECT RAISE(ABORT, 'VALUE-2: a size is not negative')
    WHERE new.size_bytes < 0;
    SELECT RAISE(ABORT, 'TRASH-1: trash_path does not lie in a trash folder');
END;

CREATE TRIGGER tr_jobs_form BEFORE UPDATE OF lease_expires_at, updated_at, processed_items, progress ON jobs
WHEN new.progress NOT BETWEEN 0 AND 1 OR new.processed_items < 0
    OR new.updated_at > 99999999999999999 OR new.lease_expires_at > 99999999999999999
BEGIN
    SELECT RAISE(ABORT, 'PROGRESS-1: progress is from 0 to 1, and no count is negative')
    WHERE new.progress NOT BETWEEN 0 AND 1 OR new.processed_items < 0;
    SELECT RAISE(ABORT, 'VALUE-1: a time is in microseconds since 1970');
END;

-- Policy: only the control plane makes, changes and removes these rows.

CREATE TRIGGER tr_protocol_version_policy_insert BEFORE INSERT ON protocol_version
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_protocol_version_policy_update BEFORE UPDATE ON protocol_version
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_protocol_version_policy_delete BEFORE DELETE ON protocol_version
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_library_roots_policy_insert BEFORE INSERT ON library_roots
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_library_roots_policy_update BEFORE UPDATE ON library_roots
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_library_roots_policy_delete BEFORE DELETE ON library_roots
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_policy_policy_insert BEFORE INSERT ON deletion_policy
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_policy_policy_update BEFORE UPDATE ON deletion_policy
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_policy_policy_delete BEFORE DELETE ON deletion_policy
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_plans_policy_insert BEFORE INSERT ON deletion_plans
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_plans_policy_update BEFORE UPDATE ON deletion_plans
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_plans_policy_delete BEFORE DELETE ON deletion_plans
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_steps_policy_insert BEFORE INSERT ON deletion_steps
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_steps_policy_update BEFORE UPDATE ON deletion_steps
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_deletion_steps_policy_delete BEFORE DELETE ON deletion_steps
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-2: only the control plane writes this table');
END;

CREATE TRIGGER tr_jobs_policy_insert BEFORE INSERT ON jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_thumbnails_policy_insert BEFORE INSERT ON thumbnails
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_policy_insert BEFORE INSERT ON thumbnail_cleanup_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_policy_insert BEFORE INSERT ON wal_maintenance_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_jobs_policy_delete BEFORE DELETE ON jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_policy_delete BEFORE DELETE ON thumbnail_cleanup_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_policy_delete BEFORE DELETE ON wal_maintenance_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_scan_sessions_policy_delete BEFORE DELETE ON scan_sessions
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_deletion_log_policy_delete BEFORE DELETE ON deletion_log
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_trash_entries_policy_delete BEFORE DELETE ON trash_entries
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_io_rate_limits_policy_delete BEFORE DELETE ON io_rate_limits
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_jobs_policy_update
    BEFORE UPDATE OF id, kind, library_id, task_id, dry_run, payload, total_items, lost_leases, created_at ON jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_thumbnails_policy_update
    BEFORE UPDATE OF id, thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes,
    source_mtime_ns, output_path, created_at ON thumbnails
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_policy_update
    BEFORE UPDATE OF id, group_key, execute_after, created_at ON thumbnail_cleanup_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_policy_update
    BEFORE UPDATE OF id, requested_mode, reason, execute_after, created_at ON wal_maintenance_jobs
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_scan_sessions_policy_update BEFORE UPDATE OF id, job_id, library_id, started_at ON scan_sessions
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_scan_findings_policy_update BEFORE UPDATE OF session_id, finding, file_id ON scan_findings
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_library_files_policy_update BEFORE UPDATE OF id, library_id, created_at ON library_files
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_deletion_log_policy_update
    BEFORE UPDATE OF id, job_id, plan_id, position, action, library_id, relative_path, kept_library_id, kept_path,
    trash_path, created_at ON deletion_log
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_trash_entries_policy_update
    BEFORE UPDATE OF id, file_id, size_bytes, hash_algorithm, content_hash, trashed_at, successor_path, is_discarded ON trash_entries
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_data_planes_policy_update BEFORE UPDATE OF name, started_at ON data_planes
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_io_rate_limits_policy_update BEFORE UPDATE OF bucket_key, created_at ON io_rate_limits
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

-- Moves of leased rows: who may take a row, keep it, end it, and take it from another.

CREATE TRIGGER tr_jobs_moves BEFORE UPDATE ON jobs
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed'))
    OR (old.status = 'running' AND new.status = 'retryable' AND new.worker_id IS NULL
        AND (new.error_code IS NULL OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_jobs_claims BEFORE UPDATE OF worker_id ON jobs
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_thumbnails_moves BEFORE UPDATE ON thumbnails
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'ready', 'failed'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL
        AND (new.error_count = old.error_count OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_thumbnails_claims BEFORE UPDATE OF worker_id ON thumbnails
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_moves BEFORE UPDATE ON thumbnail_cleanup_jobs
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL
        AND (new.error_code IS old.error_code OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_thumbnail_cleanup_jobs_claims BEFORE UPDATE OF worker_id ON thumbnail_cleanup_jobs
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_moves BEFORE UPDATE ON wal_maintenance_jobs
WHEN NOT coalesce(
    (old.status IN ('pending', 'retryable') AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed', 'retryable'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL
        AND (new.retry_count = old.retry_count OR old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at))
    OR (old.status = 'running' AND new.status = 'retryable' AND new.worker_id IS NULL
        AND (old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_wal_maintenance_jobs_claims BEFORE UPDATE OF worker_id ON wal_maintenance_jobs
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

-- Folders that the control plane wants to know the files of; a data plane looks into them.
CREATE TABLE inspections (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind                TEXT    NOT NULL,
    download_id         INTEGER REFERENCES downloads (id) ON DELETE CASCADE,
    folder              TEXT    NOT NULL,
    paths               TEXT,
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    tries               INTEGER NOT NULL DEFAULT 0,
    retry_after         INTEGER,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    error_code          TEXT,
    error_facts         TEXT,
    file_count          INTEGER,
    total_bytes         INTEGER,
    planned_at          INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER
);

CREATE UNIQUE INDEX ux_inspections_download ON inspections (download_id);
CREATE INDEX ix_inspections_waiting ON inspections (id) WHERE status = 'pending';
CREATE INDEX ix_inspections_lease ON inspections (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_inspections_unplanned ON inspections (id) WHERE status = 'completed' AND planned_at IS NULL;

CREATE TABLE inspected_files (
    inspection_id INTEGER NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    relative_path TEXT    NOT NULL,
    size_bytes    INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    inode         INTEGER NOT NULL,
    device        INTEGER NOT NULL,
    PRIMARY KEY (inspection_id, position)
) WITHOUT ROWID;

-- The renames of one library that belong together, so that they can be undone together.
CREATE TABLE renamings (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    library_id INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    undoes_id  INTEGER REFERENCES renamings (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX ix_renamings_library ON renamings (library_id, id);

-- Files on their way into a library. The control plane decides which file goes where, a data plane puts it there.
CREATE TABLE placements (
    id                  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    download_id         INTEGER REFERENCES downloads (id) ON DELETE SET NULL,
    inspection_id       INTEGER REFERENCES inspections (id) ON DELETE SET NULL,
    library_id          INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    mode                TEXT    NOT NULL CHECK (mode IN ('link', 'reflink', 'copy', 'move', 'rename', 'write')),
    fallbacks           TEXT    NOT NULL DEFAULT '[]',
    source_root         TEXT,
    source_path         TEXT,
    size_bytes          INTEGER NOT NULL,
    source_mtime_ns     INTEGER,
    target_path         TEXT    NOT NULL,
    content             BLOB,
    reserve_bytes       INTEGER NOT NULL DEFAULT 0,
    status              TEXT    NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    tries               INTEGER NOT NULL DEFAULT 0,
    retry_after         INTEGER,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    error_code          TEXT,
    error_facts         TEXT,
    method              TEXT CHECK (method IN ('link', 'reflink', 'copy', 'move', 'rename', 'write', 'found')),
    placed_device       INTEGER,
    placed_inode        INTEGER,
    placed_mtime_ns     INTEGER,
    content_hash        BLOB,
    noted_at            INTEGER,
    worker_id           TEXT,
    worker_heartbeat_at INTEGER,
    lease_expires_at    INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER,
    -- The file whose place it takes, and the name under which that one lies in the trash.
    replaces_path       TEXT,
    replaces_size_bytes INTEGER,
    replaces_mtime_ns   INTEGER,
    trash_id            TEXT,
    -- What its name was made from, and the renames that it belongs to.
    named_by            TEXT,
    renaming_id         INTEGER REFERENCES renamings (id) ON DELETE SET NULL
);

CREATE INDEX ix_placements_waiting ON placements (id) WHERE status = 'pending';
CREATE INDEX ix_placements_renaming ON placements (renaming_id) WHERE renaming_id IS NOT NULL;
CREATE INDEX ix_placements_named ON placements (library_id, id) WHERE named_by IS NOT NULL AND status = 'completed';
CREATE INDEX ix_placements_lease ON placements (lease_expires_at) WHERE status = 'running';
CREATE INDEX ix_placements_unnoted ON placements (id) WHERE status = 'completed' AND noted_at IS NULL;
CREATE INDEX ix_placements_download ON placements (download_id);
CREATE INDEX ix_placements_inspection ON placements (inspection_id);
CREATE INDEX ix_placements_target ON placements (library_id, target_path);
CREATE INDEX ix_placements_finished ON placements (finished_at, id) WHERE status = 'completed';

-- What a library takes in, and how files come into it: the modes, the best first.
ALTER TABLE library_roots ADD COLUMN accepts TEXT NOT NULL DEFAULT 'any' CHECK (accepts IN ('any', 'tv', 'movie', 'nothing'));
ALTER TABLE library_roots ADD COLUMN placement_modes TEXT NOT NULL DEFAULT '["link", "copy"]';
-- Which better releases take the place of files that Kurabito put there.
ALTER TABLE library_roots ADD COLUMN upgrades TEXT NOT NULL DEFAULT 'same_group'
    CHECK (upgrades IN ('none', 'same_group', 'anything'));

-- Where a series lies: its library and its folder there, chosen once and remembered.
CREATE TABLE series_places (
    series_id  INTEGER NOT NULL PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    library_id INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder     TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
);

-- What a person has to say before a file can be filed. Without a path it is about all files of the download.
CREATE TABLE filing_questions (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    inspection_id INTEGER NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    path          TEXT,
    reason        TEXT    NOT NULL,
    candidates    TEXT    NOT NULL DEFAULT '[]',
    created_at    INTEGER NOT NULL,
    resolved_at   INTEGER,
    -- What a person said; kept, so that it can be taken back.
    answer        TEXT,
    answered_at   INTEGER
);

CREATE INDEX ix_filing_questions_open ON filing_questions (id) WHERE resolved_at IS NULL;
CREATE INDEX ix_filing_questions_inspection ON filing_questions (inspection_id);

-- Which episodes a placed file has.
CREATE TABLE placement_episodes (
    placement_id INTEGER NOT NULL REFERENCES placements (id) ON DELETE CASCADE,
    episode_id   INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    PRIMARY KEY (placement_id, episode_id)
) WITHOUT ROWID;

CREATE INDEX ix_placement_episodes_episode ON placement_episodes (episode_id);

-- The files of libraries that episodes are in.
CREATE TABLE episode_files (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    file_id    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (episode_id, file_id)
) WITHOUT ROWID;

CREATE INDEX ix_episode_files_file ON episode_files (file_id);

ALTER TABLE series ADD COLUMN country TEXT;
ALTER TABLE series ADD COLUMN merged_into INTEGER REFERENCES series (id) ON DELETE CASCADE;
ALTER TABLE series ADD COLUMN is_offset_said INTEGER NOT NULL DEFAULT 0 CHECK (is_offset_said IN (0, 1));
-- A record that a person chose for a series outweighs one that was found.
ALTER TABLE series ADD COLUMN is_record_said INTEGER NOT NULL DEFAULT 0 CHECK (is_record_said IN (0, 1));

CREATE INDEX ix_series_merged ON series (merged_into) WHERE merged_into IS NOT NULL;

-- A question: what releases that say the same are about.
CREATE TABLE identity_questions (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    asked_of   TEXT    NOT NULL,
    reading    TEXT    NOT NULL,
    candidates TEXT    NOT NULL DEFAULT '[]',
    status     TEXT    NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'dismissed', 'answered')),
    series_id  INTEGER REFERENCES series (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_identity_questions_asked ON identity_questions (asked_of) WHERE status <> 'answered';
CREATE INDEX ix_identity_questions_status ON identity_questions (status, id);
CREATE INDEX ix_identity_questions_series ON identity_questions (series_id) WHERE series_id IS NOT NULL;

-- What a person, or a certain join, changed: enough to say it and to undo it.
CREATE TABLE corrections (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL CHECK (kind IN ('merge', 'split', 'move', 'release', 'change', 'answer')),
    series_id  INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    other_id   INTEGER REFERENCES series (id) ON DELETE CASCADE,
    made_by    TEXT    NOT NULL CHECK (made_by IN ('keeper', 'titles')),
    facts      TEXT    NOT NULL DEFAULT '{}',
    changes    TEXT    NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    undone_at  INTEGER
);

CREATE INDEX ix_corrections_series ON corrections (series_id, id);
CREATE INDEX ix_corrections_other ON corrections (other_id, id) WHERE other_id IS NOT NULL;

-- A person's word on what releases with a name are about. Of several the last counts; undoing its correction takes it away.
CREATE TABLE identity_rulings (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    folded        TEXT    NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('tv', 'movie')),
    season        INTEGER NOT NULL,
    year          INTEGER NOT NULL,
    country       TEXT    NOT NULL,
    group_folded  TEXT,
    series_id     INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    correction_id INTEGER NOT NULL REFERENCES corrections (id) ON DELETE CASCADE
);

CREATE INDEX ix_identity_rulings_folded ON identity_rulings (folded);
CREATE INDEX ix_identity_rulings_series ON identity_rulings (series_id);
CREATE INDEX ix_identity_rulings_correction ON identity_rulings (correction_id);

-- What spoke for the series of a link; the question that holds it; why it is held; whether a person released it,
-- and whether one said where it belongs, so that reading it again leaves it there.
ALTER TABLE anime_links ADD COLUMN clues TEXT NOT NULL DEFAULT '[]';
ALTER TABLE anime_links ADD COLUMN question_id INTEGER REFERENCES identity_questions (id) ON DELETE SET NULL;
ALTER TABLE anime_links ADD COLUMN held_why TEXT;
ALTER TABLE anime_links ADD COLUMN is_released INTEGER NOT NULL DEFAULT 0 CHECK (is_released IN (0, 1));
ALTER TABLE anime_links ADD COLUMN is_fixed INTEGER NOT NULL DEFAULT 0 CHECK (is_fixed IN (0, 1));
ALTER TABLE anime_links ADD COLUMN held_reason TEXT
    CHECK (held_reason IN ('no_episode', 'series_asked', 'series_ignored', 'in_doubt', 'doubtful_reading',
        'read_again'));

CREATE INDEX ix_anime_links_held ON anime_links (id) WHERE held_reason IS NOT NULL;
CREATE INDEX ix_anime_links_question ON anime_links (question_id) WHERE question_id IS NOT NULL;

-- Files on their way, guarded as the other leased tables are: see the guards of the protocol.

CREATE TRIGGER tr_inspections_policy_insert BEFORE INSERT ON inspections
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_inspections_policy_delete BEFORE DELETE ON inspections
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_placements_policy_insert BEFORE INSERT ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-3: only the control plane makes these rows');
END;

CREATE TRIGGER tr_placements_policy_delete BEFORE DELETE ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-4: a data plane does not remove these rows');
END;

CREATE TRIGGER tr_inspections_policy_update BEFORE UPDATE OF id, kind, download_id, folder, paths, planned_at, created_at ON inspections
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_placements_policy_update
    BEFORE UPDATE OF id, download_id, inspection_id, library_id, mode, fallbacks, source_root, source_path, size_bytes,
    source_mtime_ns, target_path, content, reserve_bytes, noted_at, created_at, replaces_path, replaces_size_bytes,
    replaces_mtime_ns, trash_id, named_by, renaming_id ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_inspected_files_policy_update BEFORE UPDATE ON inspected_files
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

CREATE TRIGGER tr_inspections_moves BEFORE UPDATE ON inspections
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed', 'pending'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL AND new.lost_leases = old.lost_leases)
    OR (old.status = 'running' AND new.status IN ('pending', 'failed') AND new.worker_id IS NULL
        AND (old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_inspections_claims BEFORE UPDATE OF worker_id ON inspections
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_placements_moves BEFORE UPDATE ON placements
WHEN NOT coalesce(
    (old.status = 'pending' AND new.status = 'running' AND instr(new.worker_id, '#') > 1)
    OR (old.status = 'running' AND new.worker_id IS old.worker_id
        AND new.status IN ('running', 'completed', 'failed', 'pending'))
    OR (old.status = 'running' AND new.status = 'pending' AND new.worker_id IS NULL AND new.lost_leases = old.lost_leases)
    OR (old.status = 'running' AND new.status IN ('pending', 'failed') AND new.worker_id IS NULL
        AND (old.lease_expires_at IS NULL OR old.lease_expires_at <= new.updated_at)),
    0)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'LEASE-7: a data plane may not move this row so: it is not claimable, is owned, or is over');
END;

CREATE TRIGGER tr_placements_claims BEFORE UPDATE OF worker_id ON placements
WHEN new.worker_id IS NOT NULL AND new.worker_id IS NOT old.worker_id
  AND NOT EXISTS (
      SELECT 1 FROM data_planes WHERE name = substr(new.worker_id, 1, instr(new.worker_id, '#') - 1))
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'REG-1: no data plane with the name in worker_id is registered in data_planes');
END;

CREATE TRIGGER tr_jobs_allowed BEFORE UPDATE OF status ON jobs
WHEN old.status = 'pending' AND new.status = 'running' AND new.kind = 'delete' AND new.dry_run = 0
  AND new.payload NOT LIKE '{"restore"%' AND NOT EXISTS (SELECT 1 FROM deletion_policy WHERE allow_delete = 1)
  AND sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'JOB-1: nothing is removed while the keeper does not allow it');
END;

-- How a library names the files that are put into it; a library without a row names them as Jellyfin reads them. A data plane
-- is told each name, so that it has no right to read this.
CREATE TABLE library_naming (
    library_id     INTEGER NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    series_folder  TEXT    NOT NULL,
    season_folder  TEXT    NOT NULL,
    episode_file   TEXT    NOT NULL,
    film_folder    TEXT    NOT NULL,
    film_file      TEXT    NOT NULL,
    numbering      TEXT    NOT NULL CHECK (numbering IN ('tmdb', 'entry', 'absolute')),
    subtitle_style TEXT    NOT NULL CHECK (subtitle_style IN ('current', 'portable')),
    extras         TEXT    NOT NULL CHECK (extras IN ('folder', 'leave')),
    changed_at     INTEGER NOT NULL
);

-- Links are read again when what they are read by changes: each run with the links that it moved, and what all were read by last.
CREATE TABLE relinks (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    cause       TEXT    NOT NULL CHECK (cause IN ('rule', 'offset', 'names', 'index', 'parser')),
    links_read  INTEGER NOT NULL DEFAULT 0,
    links_moved INTEGER NOT NULL DEFAULT 0,
    links_held  INTEGER NOT NULL DEFAULT 0,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER
);

CREATE TABLE relinked_links (
    relink_id   INTEGER NOT NULL REFERENCES relinks (id) ON DELETE CASCADE,
    link_id     INTEGER NOT NULL REFERENCES anime_links (id) ON DELETE CASCADE,
    from_series INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    from_number REAL,
    to_series   INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    to_number   REAL,
    PRIMARY KEY (relink_id, link_id)
);

CREATE INDEX ix_relinked_links_link ON relinked_links (link_id);
CREATE INDEX ix_relinked_links_from ON relinked_links (from_series);
CREATE INDEX ix_relinked_links_to ON relinked_links (to_series);

CREATE TABLE links_read_by (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    parser   INTEGER NOT NULL,
    index_at INTEGER
);

-- What can be searched, and how it goes. The key of an indexer is a secret: it is written and never shown.
CREATE TABLE indexers (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('torznab', 'site')),
    name            TEXT    NOT NULL,
    site            TEXT,
    url             TEXT,
    api_key         TEXT,
    categories      TEXT    NOT NULL,
    min_seeders     INTEGER NOT NULL,
    priority        INTEGER NOT NULL,
    per_hour        INTEGER NOT NULL,
    is_enabled      INTEGER NOT NULL,
    allows_private  INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    rests_until     INTEGER,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ix_indexers_name ON indexers (name);

-- The last queries of each, by which its limit is kept.
CREATE TABLE indexer_queries (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    indexer_id INTEGER NOT NULL REFERENCES indexers (id) ON DELETE CASCADE,
    query      TEXT    NOT NULL,
    asked_at   INTEGER NOT NULL,
    results    INTEGER,
    error_code TEXT
);

CREATE INDEX ix_indexer_queries_indexer ON indexer_queries (indexer_id, asked_at);

-- What a followed series wants: everything, what has no file, or only what comes from a moment on.
ALTER TABLE series ADD COLUMN wanted TEXT NOT NULL DEFAULT 'all' CHECK (wanted IN ('future', 'missing', 'all'));
ALTER TABLE series ADD COLUMN wanted_since INTEGER;
-- The library that its files go into, where the user chose one.
ALTER TABLE series ADD COLUMN library_id INTEGER REFERENCES library_roots (id) ON DELETE SET NULL;

-- By what an episode has a file: it was placed, its name says it, or a person did.
ALTER TABLE episode_files ADD COLUMN given_by TEXT NOT NULL DEFAULT 'placement'
    CHECK (given_by IN ('placement', 'name', 'keeper'));

-- When what a library has was last given to episodes: all of it, and each folder as it was then.
CREATE TABLE library_adoptions (
    library_id INTEGER NOT NULL PRIMARY KEY REFERENCES library_roots (id) ON DELETE CASCADE,
    adopted_at INTEGER NOT NULL
);

CREATE TABLE adopted_folders (
    library_id  INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder      TEXT    NOT NULL,
    records     TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    PRIMARY KEY (library_id, folder)
) WITHOUT ROWID;

-- Videos of a library that no episode has, and why.
CREATE TABLE unadopted_files (
    file_id    INTEGER NOT NULL PRIMARY KEY,
    library_id INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    folder     TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX ix_unadopted_files_library ON unadopted_files (library_id, folder);

-- Every request counts towards the limit of an indexer, also those for further pages.
CREATE TABLE indexer_requests (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    indexer_id INTEGER NOT NULL REFERENCES indexers (id) ON DELETE CASCADE,
    asked_at   INTEGER NOT NULL
);

CREATE INDEX ix_indexer_requests_indexer ON indexer_requests (indexer_id, asked_at);

-- A proxy may have a password in it: it is written, and shown without.
ALTER TABLE indexers ADD COLUMN proxy TEXT;
ALTER TABLE indexers ADD COLUMN seed_ratio REAL;
ALTER TABLE indexers ADD COLUMN seed_minutes INTEGER;

-- Where a release was found by a search, which says how long it is seeded.
ALTER TABLE anime_links ADD COLUMN indexer_id INTEGER REFERENCES indexers (id) ON DELETE SET NULL;
CREATE INDEX ix_anime_links_indexer ON anime_links (indexer_id) WHERE indexer_id IS NOT NULL;
CREATE INDEX ix_anime_links_created ON anime_links (created_at, id);

-- How releases are chosen: profiles with a name, which many shows share, and the own one of a show.
CREATE TABLE release_profiles (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name            TEXT,
    series_id       INTEGER REFERENCES series (id) ON DELETE CASCADE,
    is_default      INTEGER NOT NULL DEFAULT 0,
    conflict_policy TEXT NOT NULL CHECK (conflict_policy IN ('best', 'first', 'ask')),
    upgrade         INTEGER NOT NULL,
    wait_minutes    INTEGER NOT NULL,
    preferences     TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    CHECK ((name IS NULL) <> (series_id IS NULL))
);

CREATE UNIQUE INDEX ix_release_profiles_name ON release_profiles (name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX ix_release_profiles_series ON release_profiles (series_id) WHERE series_id IS NOT NULL;
CREATE UNIQUE INDEX ix_release_profiles_default ON release_profiles (is_default) WHERE is_default = 1;

ALTER TABLE series ADD COLUMN profile_id INTEGER REFERENCES release_profiles (id) ON DELETE SET NULL;
CREATE INDEX ix_series_profile ON series (profile_id) WHERE profile_id IS NOT NULL;

-- Releases that failed, and are not taken again before a time. What is cleared stays, so that no failure is counted twice.
CREATE TABLE release_blocklist (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_key   TEXT NOT NULL,
    download_id   INTEGER REFERENCES downloads (id) ON DELETE SET NULL,
    series_id     INTEGER REFERENCES series (id) ON DELETE CASCADE,
    title         TEXT NOT NULL,
    reason        TEXT,
    blocked_until INTEGER,
    cleared_at    INTEGER,
    created_at    INTEGER NOT NULL
);

CREATE INDEX ix_release_blocklist_release ON release_blocklist (release_key) WHERE cleared_at IS NULL;
CREATE UNIQUE INDEX ix_release_blocklist_download ON release_blocklist (download_id) WHERE download_id IS NOT NULL;
CREATE INDEX ix_release_blocklist_series ON release_blocklist (series_id) WHERE series_id IS NOT NULL;

-- How often an episode was searched for, and when it is again.
CREATE TABLE wanted_searches (
    episode_id  INTEGER NOT NULL PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    searches    INTEGER NOT NULL DEFAULT 0,
    is_asked    INTEGER NOT NULL DEFAULT 0,
    outcome     TEXT,
    searched_at INTEGER,
    next_at     INTEGER NOT NULL
);

CREATE INDEX ix_wanted_searches_asked ON wanted_searches (episode_id) WHERE is_asked = 1;

-- The automatic searches of the last hour, by which their limit is kept.
CREATE TABLE wanted_queries (
    id       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    asked_at INTEGER NOT NULL
);

CREATE INDEX ix_wanted_queries_asked ON wanted_queries (asked_at);

-- Nothing is searched for automatically before its keeper switches that on: for all shows here, or for one.
CREATE TABLE wanted_policy (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    is_automatic INTEGER NOT NULL
);

INSERT INTO wanted_policy (id, is_automatic) VALUES (1, 0);

ALTER TABLE series ADD COLUMN automatic_search INTEGER;

-- Feeds that stand by: they are read when the one that they stand in for was silent for some days.
CREATE TABLE standby_subscriptions (
    subscription_id INTEGER NOT NULL PRIMARY KEY REFERENCES subscriptions (id) ON DELETE CASCADE,
    stands_in_for   INTEGER NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    silent_days     INTEGER NOT NULL,
    took_over_at    INTEGER
);

CREATE INDEX ix_standby_subscriptions_for ON standby_subscriptions (stands_in_for);

-- NFO files and posters beside the media: which libraries have them.
ALTER TABLE library_roots ADD COLUMN writes_nfo INTEGER NOT NULL DEFAULT 0;
ALTER TABLE library_roots ADD COLUMN writes_posters INTEGER NOT NULL DEFAULT 0;

-- When the files that describe a series in a library were last compared with what is known of it; NULL: they are to be.
CREATE TABLE described_series (
    series_id    INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    library_id   INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    described_at INTEGER,
    PRIMARY KEY (series_id, library_id)
);

INSERT INTO described_series (series_id, library_id) SELECT series_id, library_id FROM series_places;

-- What Kurabito wrote to describe a series: which file, with which content, and by which placement it has its name.
CREATE TABLE description_files (
    library_id   INTEGER NOT NULL REFERENCES library_roots (id) ON DELETE CASCADE,
    subject      TEXT    NOT NULL,
    path         TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    placement_id INTEGER NOT NULL REFERENCES placements (id) ON DELETE CASCADE,
    PRIMARY KEY (library_id, subject)
);

CREATE INDEX ix_description_files_placement ON description_files (placement_id);

-- Few placements fail, and they are asked for often.
CREATE INDEX ix_placements_failed ON placements (id) WHERE status = 'failed';

-- Media servers that hear which folders changed. A token is a secret: it is written and never shown.
CREATE TABLE media_servers (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('jellyfin', 'emby', 'plex', 'kodi', 'webhook')),
    name            TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    token           TEXT,
    path_maps       TEXT    NOT NULL,
    is_enabled      INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_media_servers_name ON media_servers (name);

-- The folders that a server is to hear of, each once.
CREATE TABLE media_server_notices (
    server_id INTEGER NOT NULL REFERENCES media_servers (id) ON DELETE CASCADE,
    folder    TEXT    NOT NULL,
    noted_at  INTEGER NOT NULL,
    PRIMARY KEY (server_id, folder)
);

-- Downloaders that forget what is filed once they are done seeding it, and when they did.
ALTER TABLE service_modules ADD COLUMN tidies INTEGER NOT NULL DEFAULT 0;
ALTER TABLE downloads ADD COLUMN tidied_at INTEGER;

-- The file has its place in the library already, and only the name of the source goes.
ALTER TABLE placements ADD COLUMN is_placed INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER tr_placements_policy_update;
CREATE TRIGGER tr_placements_policy_update
    BEFORE UPDATE OF id, download_id, inspection_id, library_id, mode, fallbacks, source_root, source_path, size_bytes,
    source_mtime_ns, target_path, content, reserve_bytes, noted_at, created_at, replaces_path, replaces_size_bytes,
    replaces_mtime_ns, trash_id, named_by, renaming_id, is_placed ON placements
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

-- What a keeper hid from the list of what needs them, until it changes.
CREATE TABLE hidden_notices (
    key       TEXT NOT NULL PRIMARY KEY,
    hidden_at INTEGER NOT NULL
);

-- The first page lists what arrived last, and what is shown next.
CREATE INDEX ix_episode_files_created ON episode_files (created_at);
CREATE INDEX ix_episodes_aired ON episodes (aired_at) WHERE aired_at IS NOT NULL;

-- The wall of shows by their titles.
CREATE INDEX ix_series_title ON series (state, lower(title), id);

-- The download clients that the keeper typed into the page: `kurabito serve` speaks to them itself.
-- The password is as it was typed, because it has to be used. A data plane has no right to read it.
CREATE TABLE downloader_connections (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    client      TEXT NOT NULL,
    url         TEXT NOT NULL,
    username    TEXT NOT NULL,
    password    TEXT NOT NULL,
    instance_id TEXT NOT NULL UNIQUE,
    token       TEXT NOT NULL,
    changed_at  INTEGER NOT NULL
);

-- How far the set-up of a new installation is. It is offered until it was finished or left once.
CREATE TABLE first_run (
    id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    step        TEXT NOT NULL,
    finished_at INTEGER
);

-- What is in films and sound: how long they are, and which tracks they have. A data plane reads it, a few files at a time.
CREATE TABLE inspected_media (
    inspection_id INTEGER NOT NULL REFERENCES inspections (id) ON DELETE CASCADE,
    relative_path TEXT    NOT NULL,
    size_bytes    INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    facts         TEXT,
    error_code    TEXT,
    PRIMARY KEY (inspection_id, relative_path)
) WITHOUT ROWID;

CREATE TRIGGER tr_inspected_media_policy_update BEFORE UPDATE ON inspected_media
WHEN sqlite_compileoption_used('KURABITO_CONTROL_PLANE') = 0
BEGIN
    SELECT RAISE(ABORT, 'PLANE-1: a data plane does not write these columns');
END;

-- The same as the control plane knows it, for each file as it was then.
CREATE TABLE media_facts (
    file_id    INTEGER NOT NULL PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    facts      TEXT,
    error_code TEXT,
    read_at    INTEGER NOT NULL
);

CREATE INDEX ix_inspections_media ON inspections (id) WHERE kind = 'media';

-- Where notifications go. The address has passwords and tokens in it: it is written and never shown.
CREATE TABLE notification_destinations (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('apprise', 'webhook')),
    name            TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    token           TEXT,
    kinds           TEXT    NOT NULL,
    language        TEXT    NOT NULL,
    quiet_from      TEXT,
    quiet_to        TEXT,
    is_enabled      INTEGER NOT NULL,
    failures        INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);

CREATE UNIQUE INDEX ux_notification_destinations_name ON notification_destinations (name);

-- What a destination is to hear of, until it is told.
CREATE TABLE notification_outbox (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    destination_id INTEGER NOT NULL REFERENCES notification_destinations (id) ON DELETE CASCADE,
    kind           TEXT    NOT NULL,
    code           TEXT    NOT NULL,
    facts          TEXT    NOT NULL,
    noted_at       INTEGER NOT NULL
);

CREATE INDEX ix_notification_outbox_destination ON notification_outbox (destination_id, id);

-- The messages of a destination, and what became of them.
CREATE TABLE notification_deliveries (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    destination_id INTEGER NOT NULL REFERENCES notification_destinations (id) ON DELETE CASCADE,
    title          TEXT    NOT NULL,
    body           TEXT    NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('retrying', 'sent', 'failed')),
    attempts       INTEGER NOT NULL,
    error_code     TEXT,
    error_message  TEXT,
    created_at     INTEGER NOT NULL,
    ended_at       INTEGER
);

CREATE INDEX ix_notification_deliveries_destination ON notification_deliveries (destination_id, id);

-- What of the list of attention was told, and how much of it there was.
CREATE TABLE notified_subjects (
    subject  TEXT    NOT NULL PRIMARY KEY,
    size     INTEGER NOT NULL,
    noted_at INTEGER NOT NULL
);

-- Since when a downloader does not answer polls: an idle one that died is shown at once, and not after several polls.
ALTER TABLE service_modules ADD COLUMN unreachable_since INTEGER;

-- The files of private torrents, which work with nothing else. A file has the passkey of its keeper in it: it is given to the
-- downloader and never shown.
CREATE TABLE private_torrents (
    hash       TEXT    NOT NULL PRIMARY KEY,
    content    BLOB    NOT NULL,
    created_at INTEGER NOT NULL
);

-- Edits of several series at once, each with what the series had before, so that it can be undone. The last ones are kept.
CREATE TABLE series_edits (
    id           INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    edit         TEXT    NOT NULL,
    before       TEXT    NOT NULL,
    series_count INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    undone_at    INTEGER
);

-- When the last episode of an entry was shown: a season has no more numbers than it had weeks.
ALTER TABLE offline_entries ADD COLUMN last_date TEXT;

-- The first number of the cour that a person's word is about, where titles count seasons through.
ALTER TABLE identity_rulings ADD COLUMN first_number INTEGER NOT NULL DEFAULT 0;
