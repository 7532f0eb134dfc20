"""Files with the same content: `groups` lists them, `reclaimable` orders them by the space that removing copies would free."""
