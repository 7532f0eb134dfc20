-- name: write
-- Only where the row still has what it had.
UPDATE {table} SET {column} = CAST(given.value ->> 'after' AS {type}){stamp} FROM {given}
WHERE {table}.id = CAST(given.value ->> 'id' AS bigint)
    AND ({table}.{column} = CAST(given.value ->> 'before' AS {type})
         OR ({table}.{column} IS NULL AND given.value ->> 'before' IS NULL));
