"""The data plane: touches the disks and decides nothing.

    main.py         the process: which lines of work it has
    plane.py        says that it lives, and lets each line look for rows
    jobs.py         claims a job and runs what its kind needs
    checkpoints.py  moves SQLite's log into its file
    leasing/        a leased row, the thread that keeps its lease, and writing in portions
    files/          paths, names, walking, ignore patterns, digests
    readers/        the processes that read files
    scan/           scans a library
    hashing/        hashes the files that may have equals
    deletion/       plans, restores and purges, step by step
    search/         `kurabito dedupe`: equal files without a server
    thumbnails/     draws and removes thumbnails
    removal/        the one way a file leaves its place
    io_limit.py     the limit on bytes read per second that all data planes share
    priority.py     lets everything else on the machine go first

The kinds of work (scan, hashing, deletion, search, thumbnails) do not import one another.
"""
