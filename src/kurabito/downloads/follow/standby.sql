-- name: stand_by
INSERT INTO standby_subscriptions (subscription_id, stands_in_for, silent_days)
VALUES (:subscription_id, :stands_in_for, :silent_days)
ON CONFLICT (subscription_id) DO UPDATE
SET stands_in_for = excluded.stands_in_for, silent_days = excluded.silent_days, took_over_at = NULL;

-- name: silent
-- Feeds that stand by for one that brought nothing for so many days, and the show that it brought last.
SELECT standby.subscription_id, coalesce(first.series_id, (
           SELECT link.series_id FROM raw_anime_items AS item JOIN anime_links AS link ON link.raw_item_id = item.id
           WHERE item.subscription_id = first.id ORDER BY item.id DESC LIMIT 1)) AS series_id
FROM standby_subscriptions AS standby
JOIN subscriptions AS first ON first.id = standby.stands_in_for
WHERE standby.took_over_at IS NULL
    AND coalesce((SELECT max(item.created_at) FROM raw_anime_items AS item WHERE item.subscription_id = first.id), first.created_at)
        < :now - standby.silent_days * CAST(:day AS bigint)
ORDER BY standby.subscription_id;

-- name: take_over
UPDATE standby_subscriptions SET took_over_at = :now WHERE subscription_id = :subscription_id AND took_over_at IS NULL;
