"""Files come into a library: linked, copied, moved, renamed or written, as rows of `placements` say.

work.py           claims a placement, and writes how it ended
placement_row.py  the lease of a placement, and which file is about to get the final name
execution.py      one placement: what has the name already, and what is seen once the file has it
modes.py          linked, copied, moved, written: what is tried in which order
succession.py     a file that takes the place of another, which goes to the trash
link_batch.py     many files linked at once, in the plain case
staged_file.py    a file that is made beside its place, and gets its name once it is whole
copies.py         the content of a file, copied and hashed in one go
refusals.py       why a file does not come into its place, and whether the cause passes
store.py          what is read of a library, and the row of the file that is new in it

Nothing is ever replaced unseen: the final name appears once, with the whole content behind it, or it does not. What leaves a
place (the source of a move, a file whose place another takes) does so through `removal`.
"""
