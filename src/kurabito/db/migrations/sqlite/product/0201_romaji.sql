-- The sound of each name in Latin letters, however it is spelled: it finds what the names themselves do not.
CREATE TABLE offline_romaji (
    sound    TEXT    NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (sound, entry_id)
) WITHOUT ROWID;
