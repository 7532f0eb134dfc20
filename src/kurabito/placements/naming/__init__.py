"""Naming: what a file is called in its library. Pure: facts and settings go in, a path below the library comes out.

template.py    reads and checks a template: tokens, formats, optional parts
tokens.py      the facts that a template can name
presets.py     the naming of a library: templates and choices, and the ready-made ones
examples.py    what a naming is tried on
reasons.py     what is wrong with a template
safe_names.py  names that ext4, NTFS, SMB and APFS take
spelling.py    how a library spells the names that it has already
numbering.py   which season and number an episode gets: TMDB's, the entry's own, or one count for all
sidecars.py    language tags of subtitles and audio
renames.py     what another naming would rename
nfo.py         the texts of NFO files
targets.py     the path of an episode, a special, a film or an extra
"""
