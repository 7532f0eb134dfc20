-- name: folders
-- From each folder to the next with one look into the index, however much lies in it. `0` is the character after the slash.
WITH RECURSIVE folder (path, place) AS (
    SELECT (
        SELECT substr(relative_path, 1, :name_at - 2 + {slash}) FROM library_files
        WHERE library_id = :id AND relative_path >= :begin AND relative_path < :end AND {slash} > 0
        ORDER BY relative_path LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT substr(relative_path, 1, :name_at - 2 + {slash}) FROM library_files
        WHERE library_id = :id AND relative_path >= folder.path || '0' AND relative_path < :end AND {slash} > 0
        ORDER BY relative_path LIMIT 1
    ), folder.place + 1
    FROM folder WHERE folder.path IS NOT NULL AND folder.place < :limit
)
SELECT path FROM folder WHERE path IS NOT NULL ORDER BY place;

-- name: extent
SELECT count(*), coalesce(sum(size_bytes), 0) FROM (
    SELECT size_bytes FROM library_files
    WHERE library_id = :id AND relative_path >= :begin AND relative_path < :end AND is_missing = 0
    ORDER BY relative_path LIMIT :most
) AS counted;

-- name: files
-- Folders lie between the files, and each is passed with one look into the index too. `files` counts those before the entry.
WITH RECURSIVE entry (path, files) AS (
    SELECT (
        SELECT relative_path FROM library_files
        WHERE library_id = :id AND relative_path >= :begin AND relative_path < :end
        ORDER BY relative_path LIMIT 1
    ), 0
    UNION ALL
    SELECT (
        SELECT relative_path FROM library_files
        WHERE library_id = :id AND relative_path < :end
          AND relative_path >= CASE {entry_slash} WHEN 0 THEN entry.path || :least
                                    ELSE substr(entry.path, 1, :name_at - 2 + {entry_slash}) || '0' END
        ORDER BY relative_path LIMIT 1
    ), entry.files + CASE {entry_slash} WHEN 0 THEN 1 ELSE 0 END
    FROM entry WHERE entry.path IS NOT NULL AND entry.files < :limit
)
SELECT {file}
FROM entry JOIN library_files AS file ON file.library_id = :id AND file.relative_path = entry.path
{same}
WHERE {entry_slash} = 0
ORDER BY entry.files LIMIT :limit;
