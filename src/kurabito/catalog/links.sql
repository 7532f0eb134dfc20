-- name: page
SELECT {link} FROM anime_links AS link {joins}
WHERE link.id < :before {filter}
ORDER BY link.id DESC LIMIT :limit;

-- name: get
SELECT {link} FROM anime_links AS link {joins} WHERE link.id = :id;

-- name: of_question
SELECT {link} FROM anime_links AS link {joins} WHERE link.question_id = :question_id ORDER BY link.id;
