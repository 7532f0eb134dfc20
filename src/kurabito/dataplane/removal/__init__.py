"""The one way a file leaves its place. Plans, purges, restores, replacements and `kurabito dedupe --delete` all come through here.

A file is removed only after it was compared, byte for byte, with a copy that stays, and after that copy was seen again by its
name once the file had been moved; or moved to the trash, once its successor is in its place. What cannot be moved without the danger of replacing another file is refused.

syscalls.py   what the operating system can do and Python does not offer: move without replacing, swap, look past caches
file_refs.py  names of files, held by the folders that they are in
pairs.py      the file that goes and the copy that stays, compared
aliases.py    one file that is seen through two mounts is no copy of itself
own_names.py  names of our own beside a file in the trash
moves.py      into the trash and back
replacement.py  replaced by a link, and removed for good
successor.py  a file takes the place of another one of other content, which goes to the trash
shared_blocks.py  two files that share their blocks
sidecar.py    what lies beside a file in the trash and says where it came from

It knows neither a database nor a job: it works the same without a server.
"""
