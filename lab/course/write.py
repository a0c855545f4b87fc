"""The notes of the course as Markdown, in docs/course.

    python -m lab.course.write [FOLDER]

Their words are in moments.toml and quiz.toml, their numbers are computed here.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from lab.course.notes import Moment, Question, moments, questions

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "course"
LETTERS = "ABC"
WIDTH = 118


def pages() -> dict[str, str]:
    """Name of a file → its text."""
    found, asked = moments(), questions()
    files = {"README.md": _index(found), "quiz.md": _quiz(asked, found)}
    for number, moment in enumerate(found, 1):
        files[_file(number, moment)] = _note(number, moment)
    return files


def _file(number: int, moment: Moment) -> str:
    return f"{number:02d}-{moment.key}.md"


def _wrapped(text: str, first: str = "", later: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


def _index(found: Sequence[Moment]) -> str:
    lines = [
        "# A course in seventeen moments",
        "",
        "Each moment is one link, one question, and five minutes. The class guesses first. Then the page shows the answer.",
        "",
        f"All of them take {sum(moment.minutes for moment in found)} minutes. A lecture of twenty minutes has room for three or four:",
        "1, 5, 12 and 13 make a good first one.",
        "",
        "| | moment | page | minutes |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {number} | [{moment.title}]({_file(number, moment)}) | {moment.page} | {moment.minutes} |"
        for number, moment in enumerate(found, 1)
    ]
    lines += [
        "",
        "## Before the lesson",
        "",
        "1. Start the app: `make app`, or `llc-lab serve --address 0.0.0.0` for the whole class, see",
        "   [Serve a class](../how-to/serve-a-class.md).",
        "2. Put the name of your machine in place of `localhost` in the links.",
        "3. Press `P` for the projector. `F` puts one figure on the whole screen.",
        "4. Print the hand-outs (the command needs the extra `app`):",
        "",
        "```bash",
        "python -m lab.course.handouts handouts.pdf    # one page for each moment, and the quiz",
        "```",
        "",
        "## The links of a moment",
        "",
        "- The **class link** leaves the exact answers out, and numbers the tiles. Students type their guess on pages that ask",
        "  for one. Ask before you open the link where the picture alone tells the answer.",
        "- The **teacher's link** shows everything.",
        "- With `&class=1` behind the class link your window shows how the guesses lie, where the page asks for one.",
        "- `&present=1` opens the projector's mode. It leaves the tiles out; `P` brings them back. `→` turns to the next figure.",
        "",
        "## Before and after",
        "",
        "[Ten questions](quiz.md) show what the class has learned. The pages give every answer.",
        "",
        "This folder is written by `python -m lab.course.write`. Numbers in the notes are computed by the engine.",
    ]
    return "\n".join(lines) + "\n"


def _note(number: int, moment: Moment) -> str:
    lines = [f"# {number}. {moment.title}", "", f"About {moment.minutes} minutes.", ""]
    lines += [f"- Class link: <{moment.link(hidden=True)}>", f"- Teacher's link: <{moment.link()}>", ""]
    lines += ["## Ask", "", *_wrapped(moment.ask), "", "## Show", ""]
    for step, words in enumerate(moment.show, 1):
        lines += _wrapped(words, f"{step}. ", "   ")
    lines += ["", "## What is known", "", *_wrapped(moment.answer), "", "## Why", "", *_wrapped(moment.why), ""]
    lines += ["## Go on", ""]
    lines += _wrapped(f"Source: {moment.source}.", "- ", "  ")
    lines += [f"- Notebook: [{moment.notebook[:2]}](../../lab/notebooks/{moment.notebook}.ipynb)"]
    return "\n".join(lines) + "\n"


def _quiz(asked: Sequence[Question], found: Sequence[Moment]) -> str:
    places = {moment.key: number for number, moment in enumerate(found, 1)}
    lines = [
        "# Ten questions, before and after",
        "",
        "Let the class answer before the first moment and after the last.",
    ]
    for number, question in enumerate(asked, 1):
        lines += ["", f"## Question {number}", "", *_wrapped(question.text), ""]
        lines += [f"- {LETTERS[place]}. {option}" for place, option in enumerate(question.options)]
    lines += ["", "## Answers", ""]
    for number, question in enumerate(asked, 1):
        place = places[question.moment]
        file = _file(place, found[place - 1])
        lines.append(f"{number}. {LETTERS[question.right]}, see [moment {place}]({file}).")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if words is None else words)
    folder = Path(given[0]) if given else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    written = pages()
    for old in folder.glob("*.md"):
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(written)} pages in {folder}")


if __name__ == "__main__":
    main()
