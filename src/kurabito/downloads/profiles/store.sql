-- name: add
INSERT INTO release_profiles (name, series_id, conflict_policy, upgrade, wait_minutes, preferences, created_at, updated_at)
VALUES (:name, :series_id, :conflict_policy, :upgrade, :wait_minutes, :preferences, :now, :now)
RETURNING id;

-- name: get
SELECT {profile} FROM release_profiles WHERE id = :id;

-- name: by_name
SELECT id FROM release_profiles WHERE name = :name;

-- name: named
SELECT {profile} FROM release_profiles WHERE name IS NOT NULL ORDER BY name, id;

-- name: of_series
SELECT {profile} FROM release_profiles WHERE id = (SELECT profile_id FROM series WHERE id = :series_id);

-- name: default
SELECT {profile} FROM release_profiles WHERE is_default = 1;

-- name: own
SELECT id FROM release_profiles WHERE series_id = :series_id;

-- name: change
UPDATE release_profiles
SET name = :name, conflict_policy = :conflict_policy, upgrade = :upgrade, wait_minutes = :wait_minutes,
    preferences = :preferences, updated_at = :now
WHERE id = :id;

-- name: undo_default
UPDATE release_profiles SET is_default = 0, updated_at = :now WHERE is_default = 1;

-- name: make_default
UPDATE release_profiles SET is_default = 1, updated_at = :now WHERE id = :id;

-- name: remove
DELETE FROM release_profiles WHERE id = :id;

-- name: remove_own
DELETE FROM release_profiles WHERE series_id {among ids};

-- name: use
UPDATE series SET profile_id = :profile_id, updated_at = :now WHERE id {among ids};
