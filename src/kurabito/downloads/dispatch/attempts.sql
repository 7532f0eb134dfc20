-- name: add
INSERT INTO dispatch_attempts (download_id, module_id, module_name, hash, save_path, owner, outcome, sent_at)
SELECT CAST(given.value ->> 'id' AS bigint), :module_id, :module_name, given.value ->> 'hash', given.value ->> 'save_path',
       given.value ->> 'owner', 'sent', :now
FROM {given} WHERE true;

-- name: drop_unanswered
-- One that could not be reached before and is tried again: the new attempt tells as much.
DELETE FROM dispatch_attempts
WHERE module_id = :module_id AND outcome IN ('sent', 'unreachable', 'unclear')
    AND download_id IN (SELECT CAST(given.value ->> 'id' AS bigint) FROM {given})
RETURNING download_id, outcome, owner;

-- name: ours
-- Of the contents that a downloader had before it was asked for them, those that an earlier attempt brought there: what it took,
-- what it may have taken, and what is still to be cleared up. What it gave up, or lost, is not there because of us.
SELECT DISTINCT attempt.hash
FROM {given} CROSS JOIN dispatch_attempts AS attempt JOIN downloads AS download ON download.id = attempt.download_id
WHERE attempt.hash = given.value ->> 'hash' AND attempt.module_id = :module_id AND coalesce(attempt.owner, '') <> 'user'
    AND attempt.download_id NOT IN (SELECT CAST(given.value ->> 'id' AS bigint) FROM {given})
    AND (attempt.owed IS NOT NULL OR attempt.outcome = 'sent'
         OR attempt.outcome = 'accepted' AND download.forgotten_at IS NULL
             AND (download.status IN ('downloading', 'downloader_error', 'completed')
                  OR download.status = 'failed' AND download.missed_polls < :good_polls
                      AND NOT EXISTS (SELECT 1 FROM dispatch_attempts AS later
                                      WHERE later.hash = attempt.hash AND later.module_id = attempt.module_id
                                          AND later.outcome = 'accepted' AND later.id > attempt.id)));

-- name: set_owners
-- What turns out to be the user's is not ours to remove.
UPDATE dispatch_attempts
SET owner = given.value ->> 'owner', owed = CASE given.value ->> 'owner' WHEN 'user' THEN NULL ELSE owed END
FROM {given}
WHERE dispatch_attempts.download_id = CAST(given.value ->> 'id' AS bigint) AND dispatch_attempts.module_id = :module_id
    AND coalesce(dispatch_attempts.outcome, '') IN ('sent', 'accepted');

-- name: record_answers
-- With `coalesce` SQLite reads what is given first, and not all that was ever sent.
UPDATE dispatch_attempts
SET outcome = given.value ->> 'outcome', reason = given.value ->> 'reason',
    owed = CASE coalesce(given.value ->> 'owner', dispatch_attempts.owner)
        WHEN 'user' THEN NULL ELSE given.value ->> 'cleanup' END,
    hash = coalesce(given.value ->> 'hash', dispatch_attempts.hash), answered_at = :now,
    owner = coalesce(given.value ->> 'owner', dispatch_attempts.owner),
    may_pass = CAST(coalesce(given.value ->> 'may_pass', '0') AS integer)
FROM {given}
WHERE dispatch_attempts.download_id = CAST(given.value ->> 'id' AS bigint) AND dispatch_attempts.module_id = :module_id
    AND coalesce(dispatch_attempts.outcome, '') = 'sent';

-- name: look_elsewhere
-- Another downloader took these. One that may have them too is looked at, by the hash that is known now.
UPDATE dispatch_attempts
SET owed = CASE WHEN outcome = 'sent' AND coalesce(owner, '') <> 'user' THEN coalesce(owed, 'look') ELSE owed END,
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

-- name: request_cleanup
-- Only where no other download has the same content at that downloader, and never for what is the user's. A
-- downloader that was removed may come back.
UPDATE dispatch_attempts SET owed = :kind
WHERE id IN (
    SELECT max(attempt.id)
    FROM {given} CROSS JOIN downloads AS download
    JOIN dispatch_attempts AS attempt ON attempt.download_id = download.id
    WHERE download.id = CAST(given.value AS bigint) AND coalesce(attempt.owner, '') <> 'user'
        AND (attempt.outcome IN ('sent', 'unclear') OR attempt.outcome = 'accepted' AND attempt.hash IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM downloads AS other
                        WHERE other.hash = attempt.hash AND other.module_id IS NOT DISTINCT FROM attempt.module_id
                            AND other.status IN ('downloading', 'completed', 'downloader_error')
                            AND other.forgotten_at IS NULL AND other.given_back_at IS NULL
                            AND other.id <> download.id)
    GROUP BY download.id, attempt.module_id, attempt.hash)
RETURNING module_id;

-- name: pending_cleanups
-- While a download of the same link is on its way, nothing is taken away: it may be on its way to the same place.
SELECT {cleanup}
FROM dispatch_attempts AS attempt JOIN downloads AS download ON download.id = attempt.download_id
JOIN anime_links AS link ON link.id = download.link_id
WHERE attempt.module_id = :module_id AND attempt.owed IS NOT NULL AND attempt.outcome <> 'sent'
ORDER BY attempt.id;

-- name: set_hashes
-- A downloader said what it calls something: it has it, so there is nothing to look up any more.
UPDATE dispatch_attempts
SET hash = given.value ->> 'hash', owed = CASE dispatch_attempts.owed WHEN 'look' THEN 'cancel' ELSE dispatch_attempts.owed END
FROM {given}
WHERE dispatch_attempts.id = CAST(given.value ->> 'id' AS bigint);

-- name: missed
UPDATE dispatch_attempts SET missed_polls = missed_polls + 1
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: found
UPDATE dispatch_attempts SET missed_polls = 0
WHERE missed_polls > 0 AND id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: settle
UPDATE dispatch_attempts SET owed = NULL
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: revive
-- As if it had just been sent: the next dispatch asks that downloader first.
UPDATE dispatch_attempts SET outcome = 'sent', owed = NULL, sent_at = :now
WHERE id IN (SELECT CAST(given.value AS bigint) FROM {given});

-- name: abandon
-- A dispatch died after it had sent these, and they are wanted no longer.
UPDATE dispatch_attempts
SET outcome = 'unclear', owed = CASE WHEN coalesce(owner, '') <> 'user' THEN coalesce(owed, 'look') END, answered_at = :now
WHERE outcome = 'sent' AND download_id IN (
    SELECT download.id FROM {given} CROSS JOIN downloads AS download
    WHERE download.id = CAST(given.value AS bigint) AND download.status <> 'pending');

-- name: abandon_old
-- The same, where not even the task is left that would try again.
UPDATE dispatch_attempts
SET outcome = 'unclear', owed = CASE WHEN coalesce(owner, '') <> 'user' THEN coalesce(owed, 'look') END, answered_at = :now
WHERE outcome = 'sent' AND sent_at < :now - CAST(:age AS bigint) AND NOT EXISTS (
    SELECT 1 FROM downloads AS download WHERE download.id = dispatch_attempts.download_id AND download.status = 'pending');
