"""Processes that read files for the scan, the hash job and the search: `pool` starts and asks them, `process` is one."""
