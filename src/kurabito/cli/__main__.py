"""`python -m kurabito.cli`: the command line of this very interpreter, wherever its scripts are installed."""

from kurabito.cli import main

main()
