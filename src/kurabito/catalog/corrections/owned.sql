-- name: give
-- Only rows that are still there; what the new owner has already stays as it is.
INSERT INTO {table} ({owner}, {key}{rest})
SELECT CAST(given.value ->> 'after' AS bigint), {key}{rest}
FROM {given} CROSS JOIN {table}
WHERE {table}.{owner} = CAST(given.value ->> 'before' AS bigint) AND {table}.{key} = CAST(given.value ->> 'id' AS bigint)
ON CONFLICT DO NOTHING;

-- name: take
DELETE FROM {table} WHERE EXISTS (
    SELECT 1 FROM {given}
    WHERE {table}.{owner} = CAST(given.value ->> 'before' AS bigint)
        AND {table}.{key} = CAST(given.value ->> 'id' AS bigint));
