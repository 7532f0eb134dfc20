"""Scans: `queue` takes requests and shows them, `schedules` and `watcher` ask for them, `sessions` reads what each found."""
