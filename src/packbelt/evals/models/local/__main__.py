"""Fetch weights by name, and print where they are: `python -m packbelt.evals.models.local NAME...`."""

import sys
from collections.abc import Sequence

from packbelt.evals.models.local.weights import WEIGHTS, fetch, known
from packbelt.model import PackbeltError


def main(names: Sequence[str]) -> int:
    """Fetch weights by name and print where they are; 2 where one cannot be had."""
    if not names:
        sys.stderr.write(f"name some of: {', '.join(WEIGHTS)}\n")
        return 2
    for name in names:
        try:
            path = fetch(known(name))
        except (PackbeltError, OSError) as error:
            sys.stderr.write(f"{name}: {error}\n")
            return 2
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
