"""The leased tables of the protocol as `LeaseSpec`s: `jobs`, `thumbnails`, `cleanups` of thumbnails, and `checkpoints`."""
