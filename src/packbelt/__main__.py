"""`python -m packbelt`."""

from packbelt.cli import main

main()
