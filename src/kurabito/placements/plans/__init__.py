"""Plans: what the files of a download, a torrent's list or a folder are, and what is done with each. Pure.

    ListedFile, PlanContext ─► classes ─► own_names, reading, runs, siblings ─► works, doubts ─► others, tracks ─► names ─► FilePlan

model.py     what goes in and what comes out; reasons.py why a file is treated as it is; paths.py a path cut into its parts
classes.py   what a file is by its name: a video, a subtitle, an extra, a sample
words/       the words for extras and specials, in the languages of those who release them
folders.py   what the folders above a file say: a season, a show, extras
own_names.py what the name of a file says before its folders are looked at
reading.py   which episode or film a video is, from its own name and its folders
leading_numbers.py what the numbers and years before the names of a folder say
runs.py      what the names of a folder say together: the number that differs is the episode
siblings.py  what the other titles of the list say: sequels, specials and films beside their show
seasons.py   whether a number is of its season or counts through all of them
works.py     episodes, specials and films, from what was read
doubts.py    two files for one episode, another show, what is in the library already
others.py    extras, discs, archives, fonts; tracks.py finds the video of a subtitle or audio file
names.py     the path of each file in the library
plan.py      the steps in their order: `plan_files`

A plan never guesses. What could be one or the other is asked, with the candidates, and the rest is filed.
"""

from kurabito.placements.plans.model import FilePlan, ListedFile, PlanContext, PlannedFile, ShowContext
from kurabito.placements.plans.plan import plan_files, refuse_programs

__all__ = ["FilePlan", "ListedFile", "PlanContext", "PlannedFile", "ShowContext", "plan_files", "refuse_programs"]
