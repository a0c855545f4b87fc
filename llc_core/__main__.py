"""`python -m llc_core estimate | sweep | export`: for machines without the app."""

import sys

from llc_core.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
