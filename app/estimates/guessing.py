"""With the answers hidden: what stands in place of lessons, and what is said of a guess once they are revealed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from app.components.guess import Guess
from app.sharing.exact_answers import ExactAnswers
from app.style.glossary import explained
from app.style.numbers import number, with_error
from llc_core import Estimate

TASK = "How large is λ? Enter your guess, watch λ̂, then press Reveal."
WATCH = "The answers are hidden. What do you expect to see?"


@dataclass(frozen=True)
class Truth:
    """What is guessed. name: of `value`, an exact λ.  expected: what λ̂ should be at this n and nβ; None: not known (yet)."""

    name: str
    value: float
    expected: float | None = None


class Guessing:
    """The guess of one visitor. answers: what Reveal shows.

    `view` is there once the answers were hidden, and stays when they are revealed.
    """

    def __init__(self, answers: Callable[[], ExactAnswers]) -> None:
        self._answers = answers
        self._entered = self._kept = ""
        self._seen: tuple[Truth | None, Estimate | None] = (None, None)
        self.on_guess: Callable[[float], None] = lambda value: None
        """Called with each number that was guessed before the answer was shown: see `app.sharing.class_room`."""
        self.view = Guess(visible=False, sizing_mode="stretch_width", margin=(12, 0, 0, 0))
        self.view.listener, self.view.keeper = self._on_reveal, self._on_kept

    def show(self, truth: Truth | None, estimate: Estimate | None) -> None:
        """What the page's run is about now, and its latest estimate."""
        self._seen = truth, estimate
        revealed = self._answers().visible
        if not revealed and truth is not None:
            self.view.visible = True
        said = "" if revealed else self._kept
        if revealed and self.view.visible and truth is not None:
            said = comparison(self._entered, truth, estimate)
        self.view.param.update(revealed=revealed, said=said)

    def _on_kept(self, text: str) -> None:
        guess = read_guess(text)
        if guess is not None:
            self.on_guess(guess)
        self._kept = (
            no_number(text) if guess is None else f"Your guess is {number(guess, 4)}. Press Reveal to compare it."
        )
        self.view.said = self._kept if text.strip() else ""

    def _on_reveal(self, text: str) -> None:
        if not self._answers().visible and text.strip():
            self._on_kept(text)
            if read_guess(text) is None:  # a slip of the hand must not give the answer away
                return
        self._entered, self._kept = text, ""
        answers = self._answers()
        answers.visible = not answers.visible
        self.show(*self._seen)


def comparison(entered: str, truth: Truth, estimate: Estimate | None) -> str:
    """HTML: the truth, and how far the guess and λ̂ are from it."""
    words = [f"<b>{escape(truth.name)} is {number(truth.value, 4)}.</b>"]
    guess = read_guess(entered)
    if guess is not None:
        # Who types the λ̂ on the screen is right about that number, which is not λ.
        here = "what λ̂ should read here"
        also = "" if truth.expected is None else f", and {_off(guess, truth.expected, f'just {here}', here)}"
        words.append(f"Your guess {number(guess, 4)} is {_off(guess, truth.value)}{also}.")
    if estimate is not None and math.isfinite(estimate.llc):
        words.append(f"λ̂ = {with_error(estimate.llc, estimate.llc_se)} is {_off(estimate.llc, truth.value)}.")
        if truth.expected is not None:
            off = _off(estimate.llc, truth.expected, "the same", "it")
            words.append(f"At this n and nβ it should read {number(truth.expected, 4)}: it is {off}.")
    return " ".join(words)


def no_number(text: str) -> str:
    return f"“{escape(text.strip())}” is not a number. Write for example 3.5 or 7/2, or leave it empty."


def read_guess(text: str) -> float | None:
    """A number as people type it, fractions and decimal commas included; None where it is none."""
    parts = text.strip().replace(",", ".").replace("−", "-").split("/")
    try:
        values = [float(part) for part in parts]
        value = values[0] / values[1] if len(values) == 2 else values[0]
    except (ValueError, ZeroDivisionError):
        return None
    return value if len(values) <= 2 and math.isfinite(value) else None


def _off(value: float, truth: float, same: str = "right", it: str = "λ") -> str:
    if truth == 0 or not math.isfinite(truth):
        return f"{value - truth:+.3g} from {it}".replace("-", "−")
    share = value / truth - 1
    if abs(share) < 0.0005:
        return same
    return f"{abs(share):.1%} {'above' if share > 0 else 'below'} {it}"


def hidden_tiles(items: Sequence[dict[str, str]], tip: str = TASK) -> list[dict[str, str]]:
    """Tiles whose titles and tips say nothing of what their presets show."""
    return [{**item, "title": f"No. {place}", "tip": tip} for place, item in enumerate(items, 1)]


def without_lesson(pane: Any, lesson: str, visible: bool, task: str = TASK) -> None:
    """Show the lesson of a preset, or the task in its place."""
    pane.object = f"<p>{explained(lesson) if visible else escape(task)}</p>"
