"""Policy of deletion: what may go, decided and shown before anything is touched.

rules.py        which copy of a group is kept
policy.py       whether anything may be removed at all, stored for the data planes
plans.py        the decisions, stored step by step, and given to a data plane after a confirmation
discards.py     files that their keeper deletes, copies or not
trash.py        what was moved away and can be put back
delete_jobs.py  makes the `delete` jobs that data planes do
"""
