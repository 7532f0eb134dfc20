-- Downloaders that forget what is filed once they are done seeding it, and when they did.
ALTER TABLE service_modules ADD COLUMN tidies integer NOT NULL DEFAULT 0;
ALTER TABLE downloads ADD COLUMN tidied_at bigint;

-- The file has its place in the library already, and only the name of the source goes.
ALTER TABLE placements ADD COLUMN is_placed integer NOT NULL DEFAULT 0;
