-- name: everything
SELECT {connection} FROM downloader_connections ORDER BY id;

-- name: of_instance
SELECT {connection} FROM downloader_connections WHERE instance_id = :instance_id;

-- name: named
SELECT {connection} FROM downloader_connections WHERE name = :name;

-- name: add
INSERT INTO downloader_connections (name, client, url, username, password, instance_id, token, changed_at)
VALUES (:name, :client, :url, :username, :password, :instance_id, :token, :now);

-- name: change
UPDATE downloader_connections
SET client = :client, url = :url, username = :username, password = :password, changed_at = :now
WHERE instance_id = :instance_id;

-- name: remove
DELETE FROM downloader_connections WHERE instance_id = :instance_id;
