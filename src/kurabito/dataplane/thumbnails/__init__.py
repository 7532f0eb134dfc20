"""Thumbnails: drawn in a process that is not trusted, stored whole, and removed with their group.

`job` and `cleanup` work on the two leased tables; `source` opens a file, `decoder_process` asks a `decoder`, which draws with
`image`, `jpeg` or `video`; `folder` is where pictures are stored.
"""
