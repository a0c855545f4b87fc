"""The results of the papers at their small size as one page: a card for each item, with its figure and its claims.

`make papers` leaves a page and a file of numbers for each item in build/papers; what is finished there is shown. Each of those
pages brings all of Bokeh along. Here its script is loaded once, and a figure lies in a file of its own, which is asked for
when the reader comes near.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

from lab.site import figures
from lab.site.gallery import raw
from lab.site.prose import cell, plain
from llc_core.studies.papers.items import Item, items, papers

SIZE = "small"
PAGE = "papers-small"
TITLE = "The papers, small size"
FILES = "papers"
"""Folder of figures and numbers, beside the front page of the site."""
VERDICTS = {True: "holds", False: "does not hold", None: "undecided"}
HEAD = f"""# {TITLE}

Figures and tables of five papers, each run by one command, in minutes on two cores. Every claim is held against what the
runs gave. It is undecided where two standard errors leave a doubt. [The list](papers.md) has every item, and what it lacks.
"""
ABSENT = f"""# {TITLE}

No results lie beside this copy of the site: `make papers` runs every figure and table, and then `make docs` shows them here.
The list of them is [The papers, figure by figure](papers.md).
"""
POINTER = f"The results of the small sizes are on a page of their own: [{TITLE}]({PAGE}.md).\n\n"
SCRIPT = raw('<script src="../_static/bokeh.min.js"></script>')


@dataclass(frozen=True)
class Result:
    """What a finished run left of an item.

    numbers: its file.  report: what that has.  ran: what ran, in words.  table: lines of plain text; empty where there is none.
    figure: None where there is none.
    """

    item: Item
    numbers: Path
    report: dict[str, Any]
    ran: str
    table: str
    figure: figures.Drawn | None

    @property
    def claims(self) -> list[dict[str, Any]]:
        return list(self.report["claims"])


def read(item: Item, folder: Path) -> Result | None:
    """What `llc-lab paper` left of an item in `folder`; None where it has not run there to its end.

    Raises ValueError, one sentence, where the files are not those of `llc-lab paper`.
    """
    page, numbers = (folder / f"{item.paper}-{item.name}.{SIZE}.{ending}" for ending in ("html", "json"))
    text = page.read_text(encoding="utf-8") if page.exists() and numbers.exists() else ""
    if not text.endswith("</html>\n"):
        return None
    body = text.rpartition("</head>")[2]
    told, table = (re.search(pattern, body, re.S) for pattern in (r"<li>What ran: (.*?)</li>", r"<pre>(.*?)</pre>"))
    try:
        report = json.loads(numbers.read_text(encoding="utf-8"))
        drawn = figures.parts(body, fit=True) if "docs_json" in body else None
        if told is None:
            raise ValueError("the page does not say what ran")
    except ValueError as error:
        raise ValueError(f"{page.stem} is no result of llc-lab paper ({error}); remove it, or run it again.") from None
    return Result(item, numbers, report, unescape(told[1]), unescape(table[1]) if table else "", drawn)


def write(docs: Path, results: Path, files: Path) -> bool:
    """Write the page into `docs`, where papers.md lies, whose rows get links to it.

    results: folder of what ran; it need not be there.  files: folder for figures and numbers.
    Returns whether a figure is drawn with Bokeh.
    """
    every = items()
    found = {item.address: result for item in every if item.sizes and (result := read(item, results))}
    index = docs / "papers.md"
    index.write_text(
        linked(index.read_text(encoding="utf-8"), [each.item for each in found.values()]), encoding="utf-8"
    )
    if not found:
        (docs / f"{PAGE}.md").write_text(ABSENT, encoding="utf-8")
        return False
    files.mkdir(parents=True)
    for each in found.values():
        shutil.copy(each.numbers, files)
        if each.figure is not None:
            (files / script(each.item)).write_text(each.figure.script, encoding="utf-8")
    parts = [HEAD, "\n".join(tallies(list(found.values())))]
    for paper, title in papers().items():
        parts += [f"({place(paper)})=\n## {paper}", f"{plain(title)}."]
        parts += section([each for each in every if each.paper == paper], found)
    (docs / f"{PAGE}.md").write_text("\n\n".join([*parts, SCRIPT]) + "\n", encoding="utf-8")
    return any(each.figure is not None for each in found.values())


def linked(text: str, known: Sequence[Item]) -> str:
    """The list of all items with links to those whose results are shown."""
    for item in known:
        row = rf"^\| ([^|\[]+) \|(?=.*`{re.escape(item.command)}`)"
        text = re.sub(row, rf"| [\1](#{place(item.address)}) |", text, flags=re.M)
    before, mark, after = text.partition("## ")
    return before + POINTER + mark + after


def place(address: str) -> str:
    """Name of a place on the page, which is its id too."""
    return "paper-" + re.sub(r"\W", "-", address)


def script(item: Item) -> str:
    return f"{item.paper}-{item.name}.js"


def named(item: Item) -> str:
    """Such as "Figure 3" or "Appendix A"."""
    return re.sub(r" [a-z]$", lambda found: found[0].upper(), item.name.replace("-", " ").capitalize())


def tallies(found: Sequence[Result]) -> Iterator[str]:
    """A table: how many claims of each paper hold."""
    yield f"| paper | items | {' | '.join(VERDICTS.values())} |"
    yield "|---|---|---|---|---|"
    for paper in papers():
        yield row(f"[{paper}](#{place(paper)})", [each for each in found if each.item.paper == paper])
    yield row("all", found)


def row(name: str, found: Sequence[Result]) -> str:
    said = Counter(claim["holds"] for each in found for claim in each.claims)
    return f"| {name} | {len(found)} | {' | '.join(str(said[holds]) for holds in VERDICTS)} |"


def section(own: Sequence[Item], found: dict[str, Result]) -> Iterator[str]:
    """Cards of a paper's items, and a word of those that have none."""
    for item in own:
        if item.address in found:
            yield card(found[item.address])
    left = [item for item in own if item.address not in found]
    if waiting := [named(item) for item in left if item.sizes]:
        yield f"Not in these results: {', '.join(waiting)}."
    if never := [f"- {named(item)}: {cell(item.title)}; {cell(item.state)}." for item in left if not item.sizes]:
        yield "\n".join(["Without a run:", "", *never])


def card(found: Result) -> str:
    item = found.item
    parts = [f"({place(item.address)})=\n### {named(item)}", f"{plain(sentence(item.titled(item.sizes[SIZE])))}"]
    if found.figure is not None:
        where = f'data-figure="../{FILES}/{script(item)}" style="min-height: {found.figure.height}px"'
        parts.append(raw(f'<div class="output" {where}>\n{found.figure.places}\n</div>'))
    if found.table:
        opened = " open" if found.figure is None else ""
        parts.append(raw(f"<details{opened}><summary>Table</summary><pre>{escape(found.table)}</pre></details>"))
    if found.claims:
        parts.append(raw(f'<ul class="claims">{"".join(map(claim, found.claims))}</ul>'))
    notes = [f"Run at the small size: {found.ran}"]
    if item.lacks:
        notes.append(f"In part: lacks {item.lacks}.")
    if item.more:
        notes.append(f"More than printed: {item.more}.")
    if found.report["settings"] != json.loads(json.dumps(item.sizes[SIZE].to_dict())):
        notes.append("The settings of this item have changed since it ran.")
    if "other states" in found.report["rows"]:
        notes.append("Some of its runs were made by earlier states of the engine.")
    parts.append(" ".join(map(plain, notes)))
    parts.append(f"```bash\n{item.command} --size {SIZE}\n```")
    parts.append(raw(f'<p><a href="../{FILES}/{found.numbers.name}">Numbers of {item.address}</a></p>'))
    return "\n\n".join(parts)


def claim(said: dict[str, Any]) -> str:
    verdict = VERDICTS[said["holds"]]
    words = escape(said["text"] + (" (ours)" if said["ours"] else ""))
    return f'<li class="{verdict.split()[0]}"><b>{verdict}</b> {words}: <span>{escape(said["found"])}</span></li>'


def sentence(words: str) -> str:
    """With a capital, but for symbols, and a full stop."""
    first = words[0].upper() if words[0].isascii() else words[0]
    return f"{first}{words[1:]}."
