-- name: add_key
INSERT INTO api_keys (id, name, scopes, secret_hash, created_at) VALUES (:id, :name, :scopes, :secret_hash, :now);

-- name: keys
SELECT id, name, scopes, created_at, last_used_at, revoked_at FROM api_keys ORDER BY created_at DESC, id;

-- name: key
SELECT id, name, scopes, created_at, last_used_at, revoked_at FROM api_keys WHERE id = :id;

-- name: key_with_secret
SELECT id, name, scopes, created_at, last_used_at, revoked_at FROM api_keys
WHERE secret_hash = :secret_hash AND revoked_at IS NULL;

-- name: note_use
UPDATE api_keys SET last_used_at = :now WHERE id = :id;

-- name: revoke_key
UPDATE api_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL;

-- name: password
SELECT hash FROM passwords WHERE user_name = :user_name;

-- name: set_password
INSERT INTO passwords (user_name, hash, changed_at) VALUES (:user_name, :hash, :now)
ON CONFLICT (user_name) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at;

-- name: open_session
INSERT INTO sessions (token_hash, created_at, seen_at, expires_at)
VALUES (:token_hash, :now, :now, :now + CAST(:lifetime AS bigint));

-- name: session
SELECT seen_at FROM sessions WHERE token_hash = :token_hash AND expires_at > :now;

-- name: sessions
SELECT token_hash, created_at, seen_at FROM sessions WHERE expires_at > :now ORDER BY seen_at DESC, token_hash;

-- name: end_session
DELETE FROM sessions WHERE substr(token_hash, 1, 16) = :id;

-- name: close_other_sessions
DELETE FROM sessions WHERE token_hash <> :token_hash;

-- name: prolong_session
UPDATE sessions SET seen_at = :now, expires_at = :now + CAST(:lifetime AS bigint) WHERE token_hash = :token_hash;

-- name: close_session
DELETE FROM sessions WHERE token_hash = :token_hash;

-- name: close_sessions
DELETE FROM sessions;

-- name: close_links
DELETE FROM login_links;

-- name: forget_expired
DELETE FROM sessions WHERE expires_at <= :now;

-- name: forget_expired_links
DELETE FROM login_links WHERE expires_at <= :now;

-- name: add_link
INSERT INTO login_links (token_hash, created_at, expires_at) VALUES (:token_hash, :now, :now + CAST(:lifetime AS bigint));

-- name: link
SELECT 1 FROM login_links WHERE token_hash = :token_hash AND expires_at > :now;

-- name: redeem_link
DELETE FROM login_links WHERE token_hash = :token_hash AND expires_at > :now;
