"""Every figure and table of the papers by name: what can be run for it, at which sizes, or what it still needs.

A folder for each paper, such as `lab/papers/000`: `items.toml` names the paper and what cannot be run, and a file for each item that
can be names its study with the settings of both sizes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llc_core.fields import known_keys, short
from llc_core.studies.papers.adaptive_samplers import correction_costs, late_metrics, laws
from llc_core.studies.papers.contour_sampling import (
    contours,
    digit_modes,
    modes,
    picture_tables,
    random_fields,
    regrets,
    theorem,
    theta_laws,
)
from llc_core.studies.papers.function_space import bands, general_metrics, risks, same_chains
from llc_core.studies.papers.learning_coefficient import (
    basins,
    checks,
    crossings,
    new_data,
    optimisers,
    paths,
    two_points,
)
from llc_core.studies.papers.local_sampling import bounds, conditions, degeneracies, heads, step_sizes, volumes
from llc_core.studies.papers.study import STUDIES, Study

FOLDER = Path(__file__).resolve().parents[3] / "lab" / "papers"
SIZES = ("paper", "small")
KINDS = {
    bands, basins, bounds, checks, conditions, contours, correction_costs, crossings, degeneracies, digit_modes,
    general_metrics, heads, laws, late_metrics, modes, new_data, optimisers, paths, picture_tables,
    random_fields, regrets, risks, same_chains, step_sizes, theorem, theta_laws, two_points, volumes,
}  # fmt: skip
"""Modules whose studies are known by their names once they are imported."""
ORDER = ("figure", "table", "section", "theorem", "lemma", "appendix")
LIST = "items.toml"
KEYS = ("title", "study", "lacks", "more", "settings", *SIZES)
LISTED = ("name", "title", "needs")


@dataclass(frozen=True)
class Item:
    """One figure, table or section of a paper.

    paper: its number.  name: such as "figure-3".  sizes: the study at each size; empty: it cannot be run.
    lacks: what of the printed one is missing though it runs.  needs: what would have to be there before it runs; empty where
    there is nothing to run.  more: what it has more of than the printed one.
    """

    paper: str
    name: str
    title: str
    sizes: Mapping[str, Study] = field(default_factory=dict)
    lacks: str = ""
    needs: str = ""
    more: str = ""

    @property
    def address(self) -> str:
        return f"{self.paper}/{self.name}"

    def instead(self, study: Study) -> str:
        """What a study of this item has in place of what is printed: "A in place of B"; empty where that is the same."""
        return study.in_place_of(self.sizes.get("paper", study))

    def titled(self, study: Study) -> str:
        """The title, with what a study has in place of what is printed."""
        instead = self.instead(study)
        return f"{self.title}; here {instead}" if instead else self.title

    @property
    def state(self) -> str:
        """In words: "ready", "in part: lacks …", "not yet: needs …" or "nothing to run"; after the first two what there is more, and
        what the small size has in place of what is printed."""
        if self.sizes:
            words = f"in part: lacks {self.lacks}" if self.lacks else "ready"
            words += f"; more than printed: {self.more}" if self.more else ""
            instead = self.instead(self.sizes["small"])
            return f"{words}; at the small size {instead}" if instead else words
        return f"not yet: needs {self.needs}" if self.needs else "nothing to run"

    @property
    def command(self) -> str:
        """What to type for it; empty where there is nothing."""
        return f"llc-lab paper {self.address}" if self.sizes else ""


def papers(folder: Path = FOLDER) -> dict[str, str]:
    """The papers' titles by their numbers. ValueError where the folder has none."""
    found = {path.parent.name: str(_read(path)["paper"]) for path in sorted(folder.glob(f"*/{LIST}"))}
    if not found:
        raise ValueError(f"{short(str(folder))} holds no papers; give a folder such as lab/papers.")
    return found


def items(folder: Path = FOLDER) -> list[Item]:
    """All items of all papers, in the papers' order. ValueError, one sentence, for a file that is none."""
    found = []
    for paper in papers(folder):
        listed = _read(folder / paper / LIST).get("item", [])
        found += [_listed(paper, each) for each in listed]
        found += [read_item(path) for path in sorted((folder / paper).glob("*.toml")) if path.name != LIST]
    twice = {each.address for each in found if sum(each.address == other.address for other in found) > 1}
    if twice:
        raise ValueError(f"{min(twice)} is there twice; leave it out of {LIST}.")
    return sorted(found, key=_order)


def find(address: str, folder: Path = FOLDER) -> Item:
    """The item at an address such as "000/figure-3". ValueError names those that are near."""
    known = {each.address: each for each in items(folder)}
    if address not in known:
        near = [name for name in known if name.startswith(address.partition("/")[0] + "/")] or list(papers(folder))
        raise ValueError(f"There is no {short(address)} in the papers; choose one of {', '.join(near)}.")
    return known[address]


def read_item(path: Path) -> Item:
    """An item that can be run.  Its file has title, study, [settings] of both sizes, [paper], [small], and perhaps `lacks`.

    Raises ValueError, one sentence, for a file that is none, an unknown study, or settings that it does not take.
    """
    given = _read(path)
    known_keys(path.name, given, KEYS)
    for name in ("title", "study", *SIZES):
        if name not in given:
            raise ValueError(f"{name} is missing in {path.name}; add it as the other items have it.")
    sizes = {}
    for size in SIZES:
        settings = merged(given.get("settings", {}), given[size])
        try:
            sizes[size] = STUDIES.build({"name": given["study"], **settings})
        except ValueError as error:
            raise ValueError(f"{path.parent.name}/{path.name}, [{size}]: {error}") from None
    words = {name: str(given.get(name, "")) for name in ("title", "lacks", "more")}
    return Item(path.parent.name, path.stem, sizes=sizes, **words)


def merged(usual: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of both sizes with those of one: a table goes into the table of the same name, anything else replaces it."""
    found = dict(usual)
    for name, value in own.items():
        both = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
        found[name] = merged(found[name], value) if both else value
    return found


def _listed(paper: str, given: Mapping[str, Any]) -> Item:
    known_keys(f"{paper}/{LIST}", given, LISTED)
    words = {name: str(given.get(name, "")) for name in LISTED}
    return Item(paper, words["name"], words["title"], needs=words["needs"])


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path.parent.name}/{path.name} is no file of an item ({error}); check it.") from None


def _order(item: Item) -> tuple[str, int, list[Any]]:
    kind = item.name.partition("-")[0]
    numbers = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|[a-z]+", item.name)]
    return item.paper, ORDER.index(kind) if kind in ORDER else len(ORDER), numbers


def page(folder: Path = FOLDER) -> str:
    """Every item with its state and its command, as Markdown: what `docs/papers.md` is."""
    titles, every = papers(folder), items(folder)
    lines = [
        "# The papers, figure by figure",
        "",
        "One command runs a figure or a table, and says which claims hold, with errors:",
        "",
        "```bash",
        "llc-lab paper --list                              # every item, and its state",
        "llc-lab paper 003/figure-1                        # in minutes",
        "llc-lab paper 003/figure-1 --size paper --dry-run # what the printed size takes here",
        "llc-lab paper 003                                 # a whole paper; all: the five of them",
        "```",
        "",
        "- Its settings lie in `lab/papers`, a file for each item, with the printed size and a small one.",
        "- Most claims are the paper's. Controls and comparisons with exact answers are this project's own;",
        "  where the words could be taken for the paper's, they say (ours).",
        "- Figure, claims and numbers go to the folder that `--out` names. The same command goes on where it was ended.",
        "- So do long trainings and the chains on pictures: figure 4 of paper 000, networks of paper 001 and of 002.",
        "  Every two minutes they are kept in a folder there, such as `000.trainings`, until they are done.",
        "- A claim is decided where two standard errors leave no doubt. Few repeats need more, by Student's distribution.",
        "- Of a paper, and of all, the end says how long each item took and how many claims hold.",
        "- Of all, as many papers run side by side as there are cores: `llc-lab paper all` took 19 minutes on two cores",
        "  (55 items, AMD EPYC). Figures 5 and 6 of paper 000 have runs of their own since then: about 3 minutes of a core.",
        "- `--device cuda` runs on a GPU: of paper 000 the sweeps and figure 4, training and chains; of paper 001 training",
        "  and chains of figures 2, 4, 5, 6 and 10 and of section 10.3; of paper 002 the pictures.",
        "- `--problems N` runs the first N networks of a sweep of paper 000; the whole sweep goes on from their rows.",
        "- `--dry-run` prices all cores of the processor; it says so where a device or `--workers` is named.",
        "- `--mnist FOLDER`, `--uci FOLDER` and `--cifar FOLDER` name files of data that do not ship here.",
        "- The printed sizes of some items need them.",
        '- Figures 1, 3, 7, 8 and 9 of paper 001 are tiles of the page "Landscapes" as well: [the app](app.md).',
        "",
        "This page is written by `python -m llc_core.studies.papers.items`.",
    ]
    for paper, title in titles.items():
        lines += [
            "",
            f"## {paper}",
            "",
            f"{title}.",
            "",
            "| item | what it shows | state | command |",
            "|---|---|---|---|",
        ]
        for item in every:
            if item.paper == paper:
                command = f"`{item.command}`" if item.command else "–"
                lines.append(f"| {item.name.replace('-', ' ')} | {item.title} | {item.state} | {command} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
