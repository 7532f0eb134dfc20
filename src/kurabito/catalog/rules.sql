-- name: add
INSERT INTO title_rules (name, condition, parse, fields, priority, is_enabled, created_at, updated_at)
VALUES (:name, :condition, :parse, :fields, :priority, :is_enabled, :now, :now)
RETURNING id;

-- name: change
UPDATE title_rules
SET name = :name, condition = :condition, parse = :parse, fields = :fields, priority = :priority, is_enabled = :is_enabled,
    updated_at = :now
WHERE id = :id;

-- name: remove
DELETE FROM title_rules WHERE id = :id;

-- name: named
SELECT id FROM title_rules WHERE name = :name;

-- name: get
SELECT {rule} FROM title_rules WHERE id = :id;

-- name: all
SELECT {rule} FROM title_rules ORDER BY priority DESC, id;
