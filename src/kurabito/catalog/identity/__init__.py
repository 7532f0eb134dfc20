"""Identity: which series a release is about. A decision with evidence; what cannot be told is asked, never guessed.

    Release ─► Reading ─► candidates, each with its clues ─► Certain | Unknown | InDoubt

reading.py      what a release says of its series: names, season, year, country
entries.py      which part of a franchise is meant: cours, and numbers that count seasons through
evidence.py     the clues, and what years, countries and names speak for or against a series
decision.py     the decision; pure: everything it knows is in its arguments
knowledge.py    what it has to know, looked up for many releases at once
ways.py         how the names of a release lead to series
judge.py        finds the candidates of a release, and decides among them
resolution.py   decides for a batch: makes series, learns names, joins series that turn out to be one
questions.py    what is asked, as it is stored; service.py lists the questions and takes the answers
answers.py      an answer: what waits is linked, and what comes follows it
rulings.py      a person's word, which outweighs everything else
aliases.py      the names of series, with where each was learnt
index/          what the offline index says of names
seasons/        names, signs and numbers that a season has of its own
report.py       why a series is what it is
plausibility.py  numbers that cannot be, by what is known of the series
offsets.py      seasons whose titles probably count on from earlier ones
relink.py       reads links again after a rule or an offset changed
"""
