-- name: add
INSERT INTO dispatch_attempts (download_id, module_id, module_name, hash, save_path, outcome, sent_at)
SELECT CAST(given.value ->> 'id' AS bigint), :module_id, :module_name, given.value ->> 'hash', given.value ->> 'save_path',
       'sent', :now
FROM {given} WHERE true;

-- name: drop_vain
-- One that could not be reached before and is tried again: the new attempt tells as much.
DELETE FROM dispatch_attempts
WHERE module_id = :module_id AND outcome IN ('sent', 'unreachable', 'unclear')
    AND download_id IN (SELECT CAST(given.value ->> 'id' AS bigint) FROM {given})
RETURNING download_id, outcome;

-- name: answer
-- With `coalesce` SQLite reads what is given first, and not all that was ever sent.
UPDATE dispatch_attempts
SET outcome = given.value ->> 'outcome', reason = given.value ->> 'reason', owed = given.value ->> 'owed',
    hash = coalesce(given.value ->> 'hash', dispatch_attempts.hash),
    may_pass = CAST(coalesce(given.value ->> 'may_pass', '0') AS integer), answered_at = :now
FROM {given}
WHERE dispatch_attempts.download_id = CAST(given.value ->> 'id' AS bigint) AND dispatch_attempts.module_id = :module_id
    AND coalesce(dispatch_attempts.outcome, '') = 'sent';

-- name: doubt
-- Another downloader took these. One that may have them too is looked at, by the hash that is known now.
UPDATE dispatch_attempts
SET owed = CASE outcome WHEN 'sent' THEN coalesce(owed, 'look') ELSE owed END,
    outcome = CASE outcome WHEN 'sent' THEN 'unclear' ELSE outcome END,
    hash = coalesce(dispatch_attempts.hash, given.value ->> 'hash')
FROM {given}
WHERE dispatch_attempts.download_id = CAST(given.value ->> 'id' AS bigint) AND dispatch_attempts.module_id <> :module_id
    AND (dispatch_attempts.outcome = 'sent' OR dispatch_attempts.owed IS NOT NULL);

-- name: in_round
-- What was tried since the download was queued last.
SELECT attempt.download_id, attempt.module_id, attempt.outcome, attempt.module_name, attempt.reason, attempt.may_pass
FROM {given} CROSS JOIN dispatch_attempts AS attempt JOIN downloads AS download ON download.id = attempt.download_id
WHERE attempt.download_id = CAST(given.value AS bigint) AND attempt.sent_at >= download.queued_at
    AND attempt.module_id IS NOT NULL
ORDER BY attempt.id;

-- name: of_download
SELECT module_id, module_name, outcome, reason, sent_at, answered_at FROM dispatch_attempts
WHERE download_id = :id ORDER BY id;

-- name: owe
-- Only where no other row still stands for the same content at that downloader. One that was removed may come back.
UPDATE dispatch_attempts SET owed = :owed
WHERE id IN (
    SELECT max(attempt.id)
    FROM {given} CROSS JOIN downloads AS download
    JOIN dispatch_attempts AS attempt ON attempt.download_id = download.id
    WHERE download.id = CAST(given.value AS bigint)
        AND (attempt.outcome IN ('sent', 'unclear') OR attempt.outcome = 'accepted' AND attempt.hash IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM downloads AS other
                        WHERE other.hash = attempt.hash AND other.module_id IS NOT DISTINCT FROM attempt.module_id
                            AND other.status IN ('downloading', 'completed', 'downloader_error')
                            AND other.given_back_at IS NULL
                            AND other.id <> download.id)
    GROUP BY download.id, attempt.module_id, attempt.hash)
RETURNING module_id;

-- name: owed
-- While a download of the same link is on its way, nothing is taken away: it may be on its way to the same place.
SELECT attempt.id, attempt.hash, attempt.owed, attempt.download_id, download.status, link.url, attempt.save_path,
       EXISTS (SELECT 1 FROM downloads AS other
               WHERE other.hash = attempt.hash AND other.module_id = attempt.module_id
                   AND other.status IN ('downloading', 'completed', 'downloader_error')
                   AND other.forgotten_at IS NULL AND other.given_back_at IS NULL) AS is_kept,
       EXISTS (SELECT 1 FROM downloads AS other WHERE other.link_id = download.link_id AND other.status = 'pending') AS waits
FROM dispatch_attempts AS attempt JOIN downloads AS download ON download.id = attempt.download_id
JOIN anime_links AS link ON link.id = download.link_id
WHERE attempt.module_id = :module_id AND attempt.owed IS NOT NULL AND attempt.outcome <> 'sent'
ORDER BY attempt.id;

-- name: name
-- A downloader said what it calls something: it has it, so there is nothing to look up any more.
UPDATE dispatch_attempts
SET hash = given.value ->> 'hash', owed = CASE dispatch_attempts.owed WHEN 'look' THEN 'cancel' ELSE dispatch_attempts.owed END
FROM {given}
WHERE dispatch_attempts.id = CAST(given.value ->> 'id' AS bigint);

-- name: settle
UPDATE dispatch_attempts SET owed = NULL
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: revive
-- As if it had just been sent: the next dispatch asks that downloader first.
UPDATE dispatch_attempts SET outcome = 'sent', owed = NULL, sent_at = :now
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: abandon
-- A dispatch died after it had sent these, and they are wanted no longer.
UPDATE dispatch_attempts SET outcome = 'unclear', owed = coalesce(owed, 'look'), answered_at = :now
WHERE outcome = 'sent' AND download_id IN (
    SELECT download.id FROM {given} CROSS JOIN downloads AS download
    WHERE download.id = CAST(given.value AS bigint) AND download.status <> 'pending');

-- name: abandon_old
-- The same, where not even the task is left that would try again.
UPDATE dispatch_attempts SET outcome = 'unclear', owed = coalesce(owed, 'look'), answered_at = :now
WHERE outcome = 'sent' AND sent_at < :now - CAST(:age AS bigint) AND NOT EXISTS (
    SELECT 1 FROM downloads AS download WHERE download.id = dispatch_attempts.download_id AND download.status = 'pending');
