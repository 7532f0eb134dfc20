-- A record that a person chose for a series outweighs one that was found.
ALTER TABLE series ADD COLUMN is_record_said integer NOT NULL DEFAULT 0 CHECK (is_record_said IN (0, 1));
