"""What the words in names mean for a plan: vocabulary alone, without a list of files.

extras.py    openings, trailers, interviews, deleted scenes: what comes beside the episodes
specials.py  OVA, SP, Omake: what a special is called
"""
