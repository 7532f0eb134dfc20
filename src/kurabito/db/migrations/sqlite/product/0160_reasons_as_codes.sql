-- A reason is a code and facts, and is made into words where a reader is. The sentences that were stored become such; every
-- other text stays as it is, under the code `other`.
UPDATE anime_links
SET filter_reason = CASE
    WHEN filter_reason LIKE 'excluded by %' THEN
        '{"code": "excluded", "facts": {"rule": '
        || json_quote(substr(filter_reason, length('excluded by ') + 1)) || '}}'
    WHEN filter_reason LIKE 'not included by %' THEN
        '{"code": "not_included", "facts": {"rule": '
        || json_quote(substr(filter_reason, length('not included by ') + 1)) || '}}'
    ELSE '{"code": "other", "facts": {"text": ' || json_quote(filter_reason) || '}}'
END
WHERE filter_reason IS NOT NULL;

UPDATE downloads
SET reason = CASE
    WHEN reason = 'no downloader takes a URL of this kind' THEN '{"code": "no_type", "facts": {}}'
    WHEN reason = 'removed at the downloader' THEN '{"code": "removed", "facts": {}}'
    WHEN reason = 'the downloader reports an error' THEN '{"code": "reported", "facts": {}}'
    WHEN reason = 'it stood still' THEN '{"code": "stood_still", "facts": {}}'
    WHEN reason = 'its downloader was away' THEN '{"code": "downloader_away", "facts": {}}'
    WHEN reason = 'a better release took its place' THEN '{"code": "replaced", "facts": {}}'
    WHEN reason = 'a filter excludes it' THEN '{"code": "filtered", "facts": {}}'
    WHEN reason = 'cancelled by its keeper' THEN '{"code": "cancelled", "facts": {}}'
    WHEN reason = 'sent elsewhere by its keeper' THEN '{"code": "sent_elsewhere", "facts": {}}'
    WHEN reason = 'it stood still, and no other downloader takes it' THEN '{"code": "gave_up", "facts": {"said": []}}'
    WHEN reason LIKE 'no downloader for % is registered and switched on' THEN
        '{"code": "no_downloader", "facts": {"type": '
        || json_quote(replace(replace(reason, 'no downloader for ', ''), ' is registered and switched on', '')) || '}}'
    WHEN reason LIKE '% took it and did not say its hash' THEN
        '{"code": "no_hash", "facts": {"downloader": '
        || json_quote(replace(reason, ' took it and did not say its hash', '')) || '}}'
    WHEN reason = 'its downloader was removed; it goes on when that registers again, or send it elsewhere' THEN
        '{"code": "downloader_removed", "facts": {"downloader": null}}'
    WHEN reason LIKE '% was removed; it goes on when that registers again, or send it elsewhere' THEN
        '{"code": "downloader_removed", "facts": {"downloader": '
        || json_quote(replace(reason, ' was removed; it goes on when that registers again, or send it elsewhere', ''))
        || '}}'
    WHEN reason LIKE '% is switched off; it goes on when you switch that on, or send it elsewhere' THEN
        '{"code": "switched_off", "facts": {"downloader": '
        || json_quote(replace(reason, ' is switched off; it goes on when you switch that on, or send it elsewhere', ''))
        || '}}'
    WHEN reason LIKE 'the downloader has one torrent for this and for %, which is another episode' THEN
        '{"code": "another_episode", "facts": {"title": '
        || json_quote(replace(replace(reason, 'the downloader has one torrent for this and for ', ''),
            ', which is another episode', '')) || '}}'
    ELSE '{"code": "other", "facts": {"text": ' || json_quote(reason) || '}}'
END
WHERE reason IS NOT NULL;

UPDATE dispatch_attempts
SET reason = CASE
    WHEN reason = 'no reason given' THEN '{"code": "unexplained", "facts": {}}'
    WHEN reason = 'it said nothing about this one' THEN '{"code": "unmentioned", "facts": {}}'
    WHEN reason LIKE 'not enough room: it needs % GiB, and % GiB are left beside what is under way and the reserve' THEN
        '{"code": "no_room", "facts": {"needed_bytes": '
        || CAST(CAST(substr(reason, length('not enough room: it needs ') + 1) AS REAL) * 1073741824 AS INTEGER)
        || ', "left_bytes": '
        || CAST(CAST(substr(reason, instr(reason, ' GiB, and ') + length(' GiB, and ')) AS REAL) * 1073741824 AS INTEGER)
        || '}}'
    ELSE '{"code": "other", "facts": {"text": ' || json_quote(reason) || '}}'
END
WHERE reason IS NOT NULL;

UPDATE wal_maintenance_jobs
SET reason = CASE
    WHEN reason = 'asked for' THEN '{"code": "asked", "facts": {}}'
    WHEN reason LIKE 'the log grew to % bytes' THEN
        '{"code": "log_grew", "facts": {"size_bytes": '
        || replace(replace(replace(reason, 'the log grew to ', ''), ' bytes', ''), ',', '') || '}}'
    ELSE '{"code": "other", "facts": {"text": ' || json_quote(reason) || '}}'
END
WHERE reason <> '';
