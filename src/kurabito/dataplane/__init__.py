"""The data plane: touches the disks and decides nothing.

    main.py         the process: which runners it has
    plane.py        says that it lives, and lets each runner look for rows
    jobs.py         a leased job, and the executor that its kind needs
    checkpoints.py  moves SQLite's log into its file
    inspections.py  lists the files of downloads that are complete
    leasing/        the one runner above the lease engine, a leased row, and writing in portions
    files/          paths, names, walking, ignore patterns, digests
    readers/        the processes that read files
    scan/           scans a library
    hashing/        hashes the files that may have equals
    deletion/       plans, restores and purges, step by step
    search/         `kurabito dedupe`: equal files without a server
    thumbnails/     draws and removes thumbnails
    placing/        brings files into libraries
    removal/        the one way a file is removed
    io_limit.py     the limit on bytes read per second that all data planes share
    priority.py     lets everything else on the machine go first
    garbage.py      how often a plane's processes look for garbage

The kinds of work (scan, hashing, deletion, search, thumbnails, placing) do not import one another.
"""
