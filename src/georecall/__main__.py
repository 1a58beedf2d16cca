"""`python -m georecall`."""

from georecall.cli import main

main()
