"""Handlers in processes of their own: `processes` is the worker's side, `child` runs inside.

child.py     the process of isolated handlers, seen from inside
process.py   one process that runs isolated handlers, one after another: started, heard and ended
processes.py handlers in processes of their own: they can be stopped whatever they do, and take nothing down with them
"""
