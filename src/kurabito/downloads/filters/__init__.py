"""Filter rules: which links are taken.

`model` is a rule, `engine` decides, `store` keeps the rules, and `service` changes them and previews what a change does.

pattern_faults.py where in a pattern the fault is that RE2 found
"""
