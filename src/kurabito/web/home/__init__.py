"""The first page: `now` shows what runs, what waits and why, and what failed."""
