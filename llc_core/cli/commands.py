"""`llc-lab estimate | audit | free-energy | paper | pictures | sweep | export`: the engine from a terminal, without the app.

`python -m llc_core` is the same.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from llc_core.cli.audit import add_audit
from llc_core.cli.estimate import add_estimate
from llc_core.cli.free_energy import add_free_energy
from llc_core.cli.paper import add_paper
from llc_core.cli.pictures import add_pictures
from llc_core.cli.stores import add_export, add_stop
from llc_core.cli.sweep import add_sweep
from llc_core.fields import one_line


def add_commands(commands: Any) -> None:
    """Add this module's commands to the sub-parsers of a command line. Each sets `handle`."""
    add_estimate(commands)
    add_audit(commands)
    add_free_energy(commands)
    add_paper(commands)
    add_pictures(commands)
    add_sweep(commands)
    add_stop(commands)
    add_export(commands)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status; wrong options end in one sentence and status 2."""
    parser = argparse.ArgumentParser(prog="python -m llc_core", description=__doc__)
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return run_command(parser, parser.parse_args(argv))


def run_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Call the command's `handle`; a ValueError becomes one sentence and status 2. Who closes the pipe has read enough: status 1."""
    try:
        status = int(options.handle(options))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # what is left in the buffer goes nowhere when Python ends
        with suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 1
    except ValueError as error:
        parser.exit(2, f"llc-lab: {error}\n")
    except MemoryError as error:
        parser.exit(
            2,
            f"llc-lab: There was no memory for this ({one_line(str(error))}); use a smaller problem or fewer chains.\n",
        )
