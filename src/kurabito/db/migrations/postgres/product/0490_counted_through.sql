-- When the last episode of an entry was shown: a season has no more numbers than it had weeks.
ALTER TABLE offline_entries ADD COLUMN last_date text;

-- The first number of the cour that a person's word is about, where titles count seasons through.
ALTER TABLE identity_rulings ADD COLUMN first_number integer NOT NULL DEFAULT 0;
