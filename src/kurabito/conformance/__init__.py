"""The conformance kit: drives any data plane through the numbered rules of the protocol, and says which ones it broke.

    kit.py          runs scenarios on databases, checks what they recorded, and gathers the outcome of each rule
    outcomes.py     passed, failed with its evidence, or not covered
    report.py       the same for people, as JSON and as JUnit
    stage.py        a database, folders and the control plane's part in a scenario
    subject.py      the plane that is examined, as a process that is killed, frozen and asked to end
    journal.py      triggers that note every write, and the notes
    trees.py        folders with odd names, links, pipes, bins and holes
    reference.py    our own data plane, to compare with
    digests.py      digests and samples, made in the plainest way
    surroundings.py the schema, and tables of other parts of Kurabito, which a plane leaves as they are
    databases.py    databases for stages, made from one that has every table
    recording.py    what a scenario leaves for the checks: rows at named moments, writes, exits
    scenarios/      what happens to a plane
    checks/         one small function for each rule, on what a scenario recorded
    workers/        the same for external workers over HTTP: a kit of its own, with the same outcomes and reports

The guards of the database are taken out of a stage, so that an illegal write is seen and not only refused.
"""
