-- name: all
SELECT {rule} FROM filter_rules ORDER BY rule_order, id;

-- name: get
SELECT {rule} FROM filter_rules WHERE id = :id;

-- name: add
INSERT INTO filter_rules (name, rule_order, action, target_type, target_id, pattern, fields, is_enabled, created_at, updated_at)
VALUES (:name, :rule_order, :action, :target_type, :target_id, :pattern, :fields, :is_enabled, :now, :now)
RETURNING id;

-- name: change
UPDATE filter_rules
SET name = :name, rule_order = :rule_order, action = :action, target_type = :target_type, target_id = :target_id,
    pattern = :pattern, fields = :fields, is_enabled = :is_enabled, updated_at = :now
WHERE id = :id;

-- name: remove
DELETE FROM filter_rules WHERE id = :id;

-- name: in_scope
-- What is completed is not judged any more, unless it was given back.
SELECT {columns}
FROM anime_links AS link {group} {origin}
WHERE {scope} NOT EXISTS (SELECT 1 FROM downloads WHERE downloads.link_id = link.id AND downloads.status = 'completed'
                                                   AND downloads.given_back_at IS NULL)
ORDER BY link.id;

-- name: links
SELECT {columns}
FROM {given} CROSS JOIN anime_links AS link {group} {origin}
WHERE link.id = CAST(given.value AS bigint)
ORDER BY link.id;

-- name: mark
UPDATE anime_links
SET is_filtered = CAST(given.value ->> 'is_filtered' AS integer), filter_reason = given.value ->> 'reason'
FROM {given}
WHERE anime_links.id = CAST(given.value ->> 'id' AS bigint);
