"""Hand-outs to print: one page for each moment with room for a guess, the quiz, and a page of answers for the teacher.

    python -m lab.course.handouts [handouts.pdf]

The PDF is printed by a Chromium or Chrome that is found on the machine. A name that ends with .html needs none: print it from any
browser.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from lab.course.notes import Moment, Question, moments, questions

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
STYLE = """@page { size: A4; margin: 18mm; } body { font: 12pt/1.45 sans-serif; color: #111; }
section { break-after: page; } h1 { font-size: 20pt; margin: 0 0 6mm; } h2 { font-size: 13pt; margin: 6mm 0 1mm; }
.lines { border-bottom: .3mm solid #999; height: 11mm; } .box { border: .3mm solid #999; height: 62mm; border-radius: 2mm; }
ol.letters { list-style: upper-alpha; margin: 0 0 3mm; } .small { font-size: 10pt; color: #444; }"""


def document() -> str:
    """All hand-outs as one HTML file that asks nobody for anything."""
    found, asked = moments(), questions()
    parts = (
        [_quiz(asked)] + [_sheet(number, moment) for number, moment in enumerate(found, 1)] + [_answers(asked, found)]
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>LLC Lab: hand-outs</title><style>{STYLE}</style>'
        f"</head><body>{''.join(parts)}</body></html>"
    )


def _sheet(number: int, moment: Moment) -> str:
    steps = "".join(f"<li>{escape(words)}</li>" for words in moment.show)
    return (
        f"<section><h1>{number}. {escape(moment.title)}</h1><p>{escape(moment.ask)}</p>"
        f'<h2>My guess, and why</h2><div class="lines"></div><div class="lines"></div><div class="lines"></div>'
        f'<h2>What we do</h2><ol>{steps}</ol><h2>What I saw</h2><div class="box"></div>'
        f'<p class="small">{escape(moment.link(hidden=True))}</p></section>'
    )


def _quiz(asked: Sequence[Question]) -> str:
    items = "".join(
        f'<li>{escape(question.text)}<ol class="letters">{"".join(f"<li>{escape(option)}</li>" for option in question.options)}</ol></li>'
        for question in asked
    )
    return f'<section><h1>Ten questions</h1><p class="small">Before ☐ &nbsp; After ☐</p><ol>{items}</ol></section>'


def _answers(asked: Sequence[Question], found: Sequence[Moment]) -> str:
    quiz = "".join(f"<li>{'ABC'[question.right]}</li>" for question in asked)
    known = "".join(f"<li><b>{escape(moment.title)}.</b> {escape(moment.answer)}</li>" for moment in found)
    return f"<section><h1>For the teacher</h1><h2>Quiz</h2><ol>{quiz}</ol></section><section><h1>What is known</h1><ol>{known}</ol></section>"


def browser() -> str:
    """The first one that is there. Raises RuntimeError, with the remedy, where none is."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        raise RuntimeError(
            "No Chromium or Chrome is on this machine; write handouts.html in place of a PDF, and print that from any browser."
        )
    return found


def main(words: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if words is None else words)
    target = Path(given[0] if given else "handouts.pdf").resolve()
    if target.suffix == ".html":
        target.write_text(document(), encoding="utf-8")
    else:
        program = browser()
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "handouts.html"
            page.write_text(document(), encoding="utf-8")
            options = [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-pdf-header-footer",
                f"--user-data-dir={folder}/user",
            ]
            subprocess.run(
                [program, *options, f"--print-to-pdf={target}", page.as_uri()],
                check=True,
                capture_output=True,
                timeout=120,
            )
    print(f"{target} ({target.stat().st_size / 1e3:.0f} kB)")


if __name__ == "__main__":
    main()
