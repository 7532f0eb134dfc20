"""Libraries, their scans, jobs and thumbnails."""
