-- name: add
INSERT INTO shared_addresses (id, name, token_hash, created_at) VALUES (:id, :name, :token_hash, :now);

-- name: addresses
SELECT {address} FROM shared_addresses ORDER BY created_at DESC, id;

-- name: one
SELECT {address} FROM shared_addresses WHERE id = :id;

-- name: with_token
SELECT {address} FROM shared_addresses WHERE token_hash = :token_hash AND revoked_at IS NULL;

-- name: note_use
UPDATE shared_addresses SET last_used_at = :now WHERE id = :id;

-- name: renew
UPDATE shared_addresses SET token_hash = :token_hash, renewed_at = :now, revoked_at = NULL WHERE id = :id;

-- name: revoke
UPDATE shared_addresses SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL;
