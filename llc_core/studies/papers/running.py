"""One item at one size: what it would cost, or all of it, with its figure and its claims in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from llc_core.engine.machine import checked_device
from llc_core.fields import choice
from llc_core.plots.files import write_page
from llc_core.studies.keeping import Kept, engine_digest
from llc_core.studies.papers.claims import Claim
from llc_core.studies.papers.items import SIZES, Item
from llc_core.studies.papers.study import Cost, Found, Place, Study


@dataclass(frozen=True)
class Done:
    """found: what the study found.  page: the HTML file with figure, claims and table.
    numbers: the JSON file with all of them."""

    found: Found
    page: Path
    numbers: Path

    @property
    def claims(self) -> list[Claim]:
        return list(self.found.claims)


def study_of(item: Item, size: str, problems: int | None = None) -> Study:
    """The study of an item at a size.  problems: the first so many of them alone.

    ValueError where it cannot be run, with what it needs, and where it has not so many problems.
    """
    choice("size", size, SIZES)
    if not item.sizes:
        raise ValueError(f"{item.address} cannot be run: {item.state}.")
    study = item.sizes[size]
    if problems is None:
        return study
    some = study.first(problems)
    if some is None:
        raise ValueError(f"{item.address} is no sweep over problems; leave --problems out.")
    return some


def cost_of(item: Item, size: str, problems: int | None = None) -> Cost:
    """Of a size of an item, or of the first `problems` of it. Raises ValueError as `study_of` does."""
    return study_of(item, size, problems).cost()


def title_of(item: Item, size: str, problems: int | None = None) -> str:
    """The item's address and title, the size, and what that has in place of what is printed. Raises ValueError as `study_of` does."""
    return f"{item.address} ({size}): {item.titled(study_of(item, size, problems))}"


def run_item(
    item: Item,
    size: str,
    folder: Path,
    *,
    problems: int | None = None,
    workers: int | None = None,
    device: str | None = None,
    mnist: Path | None = None,
    uci: Path | None = None,
    cifar: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Done:
    """Run what `folder` has not yet, and write page and numbers there.

    problems: the first so many of a sweep; the whole one goes on from their rows.
    Rows of a paper's items are kept together, so that an item whose runs another one made starts nothing.
    Raises ValueError as the study does, and where the folder cannot be made or the device is not there.
    """
    study = study_of(item, size, problems)
    checked_device(device)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"The folder {str(folder)!r} cannot be made ({error.strerror}); give another one.") from None
    kept = Kept(folder / f"{item.paper}.jsonl")
    found = study.run(Place(kept, folder / f"{item.paper}.sqlite", workers, device, mnist, uci, cifar, say))
    page, numbers = (folder / f"{item.paper}-{item.name}.{size}.{ending}" for ending in ("html", "json"))
    told = [
        f"What ran: {cost_of(item, size, problems).words}.",
        *map(str, found.claims),
        *([f"Missing: {item.lacks}."] if item.lacks else []),
        *([f"More than printed: {item.more}."] if item.more else []),
    ]
    report = {
        "item": item.address, "size": size, "settings": study.to_dict(), "engine": engine_digest(), "rows": kept.origin(),
        "claims": [asdict(each) for each in found.claims],
        "numbers": found.numbers,
    }  # fmt: skip
    numbers.write_text(json.dumps(report, indent=1, ensure_ascii=False, default=float) + "\n", encoding="utf-8")
    write_page(
        page, title_of(item, size, problems), told, list(found.table), None if found.draw is None else found.draw()
    )
    return Done(found, page, numbers)
