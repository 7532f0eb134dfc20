"""Indexers, and the search through them.

groups.py       which groups release a show, and the button that follows it as one of them does
indexers.py     the indexers: how each is, how it is asked, and the sites that can be added
profile_form.py the form that asks how releases are chosen
profiles.py     *Preferences*: profiles with a name, and the own preferences of a show
search.py       the search: a name or a link, what the indexers have of it, and the button that downloads one of them
wanted.py       *Wanted*: missing episodes and those that could be better, by date or by show; and what would fetch them
"""
