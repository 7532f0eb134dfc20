-- name: fresh
SELECT page, pages, titles, read_at FROM tmdb_pages
WHERE kind = :kind AND year = :year AND read_at > :now - :kept_for ORDER BY page;

-- name: keep
INSERT INTO tmdb_pages (kind, year, page, pages, titles, read_at) VALUES (:kind, :year, :page, :pages, :titles, :now)
ON CONFLICT (kind, year, page) DO UPDATE
SET pages = excluded.pages, titles = excluded.titles, read_at = excluded.read_at;

-- name: forget_old
DELETE FROM tmdb_pages WHERE read_at <= :now - :kept_for;
