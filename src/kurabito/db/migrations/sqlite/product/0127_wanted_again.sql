-- Since when a download that is complete counts no longer: its files were deleted with it, or its episode is wanted again.
ALTER TABLE downloads ADD COLUMN given_back_at INTEGER;
