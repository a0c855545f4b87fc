"""What every study of a paper's figure or table is: settings that are checked, a cost, and a run that gives claims and a figure."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from llc_core.compute.cores import available_cores
from llc_core.fields import Family, Named, is_list, number, short
from llc_core.studies.keeping import Kept, key
from llc_core.studies.papers.claims import Claim


@dataclass(frozen=True)
class Cost:
    """seconds: of this machine, all its cores at work.  megabytes: the most memory at once.  words: what runs."""

    seconds: float
    megabytes: float
    words: str


@dataclass(frozen=True)
class Found:
    """claims: judged.  numbers: what they and the figure came from, as JSON has it.  draw: makes the figure, of HoloViews;
    None: a table, whose lines are `table`."""

    claims: Sequence[Claim]
    numbers: Mapping[str, Any]
    draw: Callable[[], Any] | None = None
    table: Sequence[str] = ()


@dataclass(frozen=True)
class Place:
    """Where a study keeps what it has, so that it goes on there when it was ended.

    kept: rows by question.  store: of sweeps.  mnist, uci, cifar: folders of these files, the last one also of SVHN's.
    say: gets a line now and then.
    """

    kept: Kept
    store: Path
    workers: int | None = None
    device: str | None = None
    mnist: Path | None = None
    uci: Path | None = None
    cifar: Path | None = None
    say: Callable[[str], None] = field(default=lambda line: None)

    def on_the_way(self, asked: Any) -> Path | None:
        """The folder beside the rows for what a question's long training or chains keep until they are done, see `arrived`; None
        where rows are held in memory alone."""
        if self.kept.path is None:
            return None
        return self.kept.path.with_suffix(".trainings") / hashlib.sha256(key(asked).encode()).hexdigest()[:16]

    def arrived(self, asked: Any) -> None:
        """Removes the folder of a question that needs it no more, if there is one."""
        folder = self.on_the_way(asked)
        if folder is not None and folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            if folder.parent.exists() and not any(folder.parent.iterdir()):
                folder.parent.rmdir()

    def part(self, asked: Any, make: Callable[[], Mapping[str, Any]], words: str) -> Mapping[str, Any]:
        """The row that answers a question: the kept one, or one that is made now and kept. It has arrived then."""
        if asked not in self.kept:
            self.say(words)
            self.kept.add(asked, make())
        self.arrived(asked)
        return self.kept[asked]


class Study(Named):
    """Base of all. Every field is declared with `hyper`; `to_dict` is what a TOML file may say."""

    what: ClassVar[str] = "study"

    def cost(self) -> Cost:
        """What a run from its beginning would take here, by counts and by rates that are known; nothing is run for it."""
        raise NotImplementedError

    def in_place_of(self, printed: Study) -> str:
        """What this one has in place of what the printed size has, "A in place of B", of what a title or the text names; empty
        where that is the same.
        """
        return ""

    def first(self, problems: int) -> Study | None:
        """With the first of its problems alone, so that its rows are some of the whole one's; None where it has none to choose from.

        ValueError where it has fewer.
        """
        return None

    def run(self, at: Place) -> Found:
        """All of it; what `at` has already is not made again."""
        raise NotImplementedError


STUDIES: Family[Study] = Family(Study, "study", '"LineLaws"')
register = STUDIES.register


def on_cores(processor_seconds: float, parts: int) -> float:
    """Seconds of `parts` that run side by side, of so many seconds of one processor together."""
    return processor_seconds / max(1, min(parts, available_cores()))


def rising(wanted: str, least: int, low: float = -math.inf, above: float = -math.inf) -> Callable[[str, Any], Any]:
    """What reads at least so many numbers in rising order.  wanted: what they are, as the sentence says it."""

    def read(label: str, value: Any) -> tuple[float, ...]:
        found = tuple(number(label, each, low, above=above) for each in value) if is_list(value) else ()
        if len(found) < least or list(found) != sorted(set(found)):
            raise ValueError(f"{label} is {short(value)}; give at least {least} {wanted}, in rising order.")
        return found

    return read
