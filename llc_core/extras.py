"""What is not installed, in one sentence that names the command. Heavy libraries are imported where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

OWN = ("llc_core", "app", "lab")


class MissingExtra(ImportError, ValueError):
    """A library of one of the extras in pyproject.toml is not installed. Callers that show a ValueError show this too."""


@contextmanager
def needs(purpose: str, extra: str) -> Iterator[None]:
    """Around the lazy imports that `purpose` takes: raises MissingExtra, one sentence, where a library is missing.

    extra: the name in pyproject.toml that brings the libraries, such as "sweeps".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in OWN:  # a fault of ours, and no library that can be installed
            raise
        raise MissingExtra(f"{purpose} needs {missing}; install it with: {command(extra)}") from None


def command(extra: str) -> str:
    """What a person types to install an extra."""
    return f'pip install "llc-lab[{extra}]"'
