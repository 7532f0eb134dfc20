"""Thumbnails and media facts: drawn and read in a process that is not trusted; pictures are stored whole, and removed with
their group.

`job` and `cleanup` work on the two leased tables; `source` opens a file, `decoder_process` asks a `decoder`, which draws with
`image`, `jpeg` or `video`; `folder` is where pictures are stored. `media_job` has it read what is in a film, with `media_facts`.

picture.py what is asked of a decoder, and what it answers
"""
