-- name: offsets
-- What titles of any series count on from.
SELECT DISTINCT episode_offset FROM series WHERE episode_offset > 0 ORDER BY 1;
