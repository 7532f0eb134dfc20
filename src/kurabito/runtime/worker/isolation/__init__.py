"""Handlers in processes of their own: `processes` is the worker's side, `child` runs inside."""
