-- Where an attempt sent something, so that it can be asked for again by whoever does not know its hash.
ALTER TABLE dispatch_attempts ADD COLUMN save_path TEXT;

CREATE INDEX ix_dispatch_attempts_sent ON dispatch_attempts (sent_at) WHERE outcome = 'sent';

-- What stood still is tried elsewhere, and given up where nobody else takes it.
ALTER TABLE downloads ADD COLUMN has_stalled integer NOT NULL DEFAULT 0 CHECK (has_stalled IN (0, 1));
