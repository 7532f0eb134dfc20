"""Filing: from a download that is complete to files in a library. Decides; data planes touch the disks.

    download complete ─► inspection ─► plan, library ─► placements, questions ─► file in its place ─► episode in the library
                         (data plane)                                            (data plane)

loop.py         takes the next step of every download whenever something changed
arrivals.py     asks data planes for the files of downloads that are complete
show_facts.py   what is known of a series when its files are named
destination.py  which library, and which folder of it
show_folders.py which show has a folder: two of one name never share one
library_plan.py the plan for files that go into a library, spelled as the library spells it
planner.py      from the files of a download to placements and questions, in one transaction
placed_files.py notes that files are in their place, and whose episodes they are
store.py        placements as they are stored
service.py      what a program asks of placements: list them, retry, resolve
report.py       how far the filing of one download is
reasons.py      why a download is not filed
answers.py      what a person says of files that a plan could not decide about, as it is stored beside the question
naming_facts.py what a file was named by, kept with its placement: so that another naming, or another title, can name it again
"""
