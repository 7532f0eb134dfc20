"""The leased tables of the protocol as `LeaseSpec`s: `jobs`, `thumbnails` (with their cleanups) and `checkpoints`."""
