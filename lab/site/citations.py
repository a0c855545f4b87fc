"""The paper as a page: its citations, which journals' tools resolve, as names and years, and its references below."""

from __future__ import annotations

import re

ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)^\}", re.S | re.M)
FIELD = re.compile(r"^\s*(\w+) = \{(.*)\},$", re.M)
GROUP = re.compile(r"\[(@\w+(?:; @\w+)*)\]")
SINGLE = re.compile(r"@(\w+)")
ACCENTS = {r"{\'e}": "é"}
"""What the file of references has, and no more."""
MANY = 3
"""Authors, from which on only the first is named in the text."""

Reference = dict[str, str]


def references(text: str) -> dict[str, Reference]:
    """Key → fields of each entry of a file of BibTeX."""
    return {key: {name: _plain(value) for name, value in FIELD.findall(fields)} for key, fields in ENTRY.findall(text)}


def _plain(value: str) -> str:
    for written, letter in ACCENTS.items():
        value = value.replace(written, letter)
    return re.sub(r"[{}]", "", value)


def page(paper: str, bibliography: str) -> str:
    """Markdown of the site for a paper in the form of JOSS.

    Raises ValueError where it cites what the bibliography has not.
    """
    known = references(bibliography)
    head, body = paper.split("\n---\n", 1)
    (title,) = re.findall(r"^title: '(.*)'$", head, re.M)
    cited = set(SINGLE.findall(body))
    if missing := cited - set(known):
        raise ValueError(f"The paper cites {min(missing)}, which paper.bib has not; add it there.")

    def group(match: re.Match[str]) -> str:
        return "(" + "; ".join(f"{names(known[key])} {known[key]['year']}" for key in SINGLE.findall(match[1])) + ")"

    body = GROUP.sub(group, body)
    body = SINGLE.sub(lambda match: f"{names(known[match[1]])} ({known[match[1]]['year']})", body)
    listed = [f"- {entry(known[key])}" for key in sorted(cited, key=lambda key: names(known[key]))]
    body = re.sub(r"^#", "##", body, flags=re.M)
    return "\n".join([f"# {title}", body.rstrip(), "", *listed, ""])


def names(reference: Reference) -> str:
    """Family names as the text has them."""
    families = [each.split(",")[0] for each in reference["author"].split(" and ")]
    return f"{families[0]} et al." if len(families) >= MANY else " & ".join(families)


def entry(reference: Reference) -> str:
    """One line of the list of references."""
    authors = ", ".join(
        " ".join(reversed([part.strip() for part in each.split(",")])) for each in reference["author"].split(" and ")
    )
    where = reference.get("journal") or reference.get("booktitle") or reference.get("publisher") or ""
    address = reference.get("url") or (f"https://doi.org/{reference['doi']}" if "doi" in reference else "")
    if "eprint" in reference:
        address = f"https://arxiv.org/abs/{reference['eprint']}"
    parts = [f"{authors} ({reference['year']})", f"*{reference['title']}*", where, f"<{address}>" if address else ""]
    return ". ".join(part for part in parts if part)
