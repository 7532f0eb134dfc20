-- name: answers
SELECT path, answer FROM filing_questions WHERE inspection_id = :inspection_id AND answer IS NOT NULL ORDER BY id;

-- name: page
SELECT {question} FROM filing_questions AS question JOIN inspections AS inspection ON inspection.id = question.inspection_id
LEFT JOIN downloads AS download ON download.id = inspection.download_id
LEFT JOIN anime_links AS link ON link.id = download.link_id LEFT JOIN series ON series.id = link.series_id
WHERE question.id < :before AND question.resolved_at IS NULL ORDER BY question.id DESC LIMIT :limit;

-- name: get
SELECT {question} FROM filing_questions AS question JOIN inspections AS inspection ON inspection.id = question.inspection_id
LEFT JOIN downloads AS download ON download.id = inspection.download_id
LEFT JOIN anime_links AS link ON link.id = download.link_id LEFT JOIN series ON series.id = link.series_id
WHERE question.id = :id;

-- name: of_inspection
-- What is open, and what was answered and can be taken back.
SELECT {question} FROM filing_questions AS question JOIN inspections AS inspection ON inspection.id = question.inspection_id
LEFT JOIN downloads AS download ON download.id = inspection.download_id
LEFT JOIN anime_links AS link ON link.id = download.link_id LEFT JOIN series ON series.id = link.series_id
WHERE question.inspection_id = :inspection_id AND (question.resolved_at IS NULL OR question.answer IS NOT NULL)
ORDER BY question.id LIMIT :most;

-- name: answer
UPDATE filing_questions SET answer = :answer, answered_at = :now, resolved_at = :now WHERE id = :id AND resolved_at IS NULL;

-- name: same_show
-- The open questions about the library of other downloads of a show.
SELECT question.id FROM filing_questions AS question JOIN inspections AS inspection ON inspection.id = question.inspection_id
JOIN downloads AS download ON download.id = inspection.download_id JOIN anime_links AS link ON link.id = download.link_id
WHERE link.series_id = :series_id AND question.path IS NULL AND question.resolved_at IS NULL AND question.id <> :id
ORDER BY question.id;

-- name: reopen
UPDATE filing_questions SET answer = NULL, answered_at = NULL, resolved_at = NULL WHERE id = :id AND answer IS NOT NULL;

-- name: plan_again
UPDATE inspections SET planned_at = NULL, updated_at = :now WHERE id = :inspection_id AND status = 'completed';

-- name: plan_undecided
-- Those that wait for a library.
UPDATE inspections SET planned_at = NULL, updated_at = :now
WHERE status = 'completed' AND id IN (SELECT inspection_id FROM filing_questions WHERE path IS NULL AND resolved_at IS NULL);

-- name: begun
-- What came of an answer and cannot be taken back here: files that are in their place, or are about to be.
SELECT id FROM placements
WHERE inspection_id = :inspection_id AND status IN ('running', 'completed') AND (source_path = :path OR CAST(:path AS text) IS NULL)
LIMIT 1;

-- name: withdraw
DELETE FROM placements WHERE inspection_id = :inspection_id AND status IN ('pending', 'failed');

-- name: libraries
SELECT id, name FROM library_roots WHERE removing_since IS NULL AND accepts <> 'nothing' ORDER BY name, id;
