-- name: asked
SELECT question.asked_of, question.id, question.series_id
FROM {given} CROSS JOIN identity_questions AS question
WHERE question.asked_of = given.value ->> 0 AND question.status <> 'answered';

-- name: ask
INSERT INTO identity_questions (asked_of, reading, candidates, series_id, created_at, updated_at)
VALUES (:asked_of, :reading, :candidates, :series_id, :now, :now)
RETURNING id;

-- name: page
SELECT {question}, (SELECT count(DISTINCT link.release_key) FROM anime_links AS link WHERE link.question_id = question.id) AS releases
FROM identity_questions AS question
WHERE question.status = :status AND question.id < :before
ORDER BY question.id DESC LIMIT :limit;

-- name: get
SELECT {question}, (SELECT count(DISTINCT link.release_key) FROM anime_links AS link WHERE link.question_id = question.id) AS releases
FROM identity_questions AS question WHERE question.id = :id;

-- name: count_open
SELECT count(*) FROM identity_questions WHERE status = 'open';

-- name: titles
-- The newest releases that each question holds.
SELECT link.question_id, link.title
FROM {given} CROSS JOIN anime_links AS link WHERE link.question_id = CAST(given.value ->> 0 AS bigint)
ORDER BY link.id DESC;

-- name: holding
SELECT question.id FROM identity_questions AS question
WHERE question.status = 'open' AND question.id <> :id
ORDER BY question.id;

-- name: settle
UPDATE identity_questions SET status = :status, series_id = :series_id, updated_at = :now WHERE id = :id;

-- name: of_series
SELECT id FROM identity_questions WHERE series_id = :id AND status <> 'answered' ORDER BY id;
