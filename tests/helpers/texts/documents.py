"""What a Markdown document names and the project does not have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
MODULE = re.compile(r"python -m (lab(?:\.\w+)+)")
PLACE = re.compile(r"(?<![\w./-])((?:llc_core|app|lab|docs|tests)/[\w./-]*\w)")
PLACEHOLDER = re.compile(r"[A-Z]{2,}")
"""NAME in a path stands for a name of one's own."""


def faults(path: Path, text: str, root: Path) -> Iterator[str]:
    """One sentence for each relative link, heading, `python -m lab…` and path of the project that is not there.

    path: where the document lies.  root: of the project.
    """
    for target in LINK.findall(text):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        file = path.parent / name if name else path
        if not file.exists():
            yield f"{path.name} links to {target}, which is not there."
        elif heading and heading not in headings(file.read_text()):
            yield f"{path.name} links to {target}; {file.name} has no such heading."
    for module in MODULE.findall(text):
        at = root / module.replace(".", "/")
        if not at.with_suffix(".py").exists() and not (at / "__main__.py").exists():
            yield f"{path.name} names python -m {module}, which is not there."
    for place in PLACE.findall(LINK.sub("", text)):
        if not (root / place).exists() and not PLACEHOLDER.search(place.rpartition(".")[0] or place):
            yield f"{path.name} names {place}, which is not there."


def headings(text: str) -> set[str]:
    """The anchors that a page of Markdown gives its headings."""
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


MOST_SENTENCES = 3


def crowded(text: str) -> Iterator[str]:
    """One sentence for each table with more than three sentences below it.

    What is below ends at the next table or heading, at a list, and where a command begins or "…:" leads to the next table.
    """
    for block in re.finditer(r"^(\|.*)\n(?:\|.*\n)*((?:(?![|#]).*\n)*)(\|)?", text, re.M):
        below = re.split(r"\n\s*\n", block[2].strip())
        if block[3] and below[-1].endswith(":"):
            below.pop()
        first = next((k for k, paragraph in enumerate(below) if paragraph.startswith(("`", "- "))), len(below))
        prose = re.sub(r"`[^`]*`", "x", " ".join(below[:first]))
        found = len(re.findall(r"[.!?](?=[\s)*]|$)", prose))
        if found > MOST_SENTENCES:
            yield f"{found} sentences stand below the table {block[1][:60]}; keep three, and list the rest as findings."


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command in the page's blocks of shell, without its comment and without variables set before it."""
    for block in blocks(text, "bash"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words:
                yield words


WIDEST = 120
"""Characters of a line of text."""
LONGEST = 35
"""Words of a sentence."""


def hard_to_read(text: str) -> Iterator[str]:
    """One sentence for each line that is too wide, rows of tables left out, and for each sentence that is too long."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDEST and not line.startswith("|"):
            yield f"Line {number} has {len(line)} characters; wrap it at {WIDEST}."
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    prose = re.sub(r"\]\([^)]*\)", "]", re.sub(r"^[|#].*$", "", prose, flags=re.M))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*>]|\d+\.) )", prose):
        for sentence in re.split(r"(?<=[.!?:;])[*\")]*\s+", paragraph.strip()):
            if len(sentence.split()) > LONGEST:
                yield f"{len(sentence.split())} words: {' '.join(sentence.split()[:8])} …"
