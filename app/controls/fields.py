"""Hyperparameter fields as widgets: one `Hyper` description makes a slider with typed entry, or a list of choices. Long, since the
way from a declaration to either is here.

A widget reports a change when the slider is released or the entry is confirmed, never while it is dragged.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.components.slider import SliderEntry
from app.controls.labels import field_label
from app.controls.scales import is_logarithmic, slider_range
from app.style.numbers import number_text
from llc_core.fields import Hyper, check_hyper, default_of, hyper_fields, whole

AUTOMATIC = "automatic"
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
"""Commas that part thousands. Any other is a decimal comma: without it 1,5e-9 would be ten times as much, and run."""


class Field(pn.viewable.Viewer):
    """A value, a message in place when it is wrong, and `listener`, called after changes made by the user."""

    def __init__(self, name: str, about: Hyper):
        super().__init__()
        self.key, self.about = name, about
        self.listener: Callable[[], None] = lambda: None

    @property
    def value(self) -> Any:
        raise NotImplementedError

    def set(self, value: Any) -> None:
        """Show `value` without reporting a change."""
        raise NotImplementedError

    def renew(self, value: Any) -> None:
        """Be as a field that was just made with this value, without another widget, which a browser would build anew."""
        self.set(value)


class ChoiceField(Field):
    """A list of named options; `labels` gives them names for people. With `about.auto` the value may be None, "automatic"."""

    def __init__(
        self, name: str, about: Hyper, default: str | None, labels: dict[str, str] | None = None, label: str = ""
    ):
        super().__init__(name, about)
        labels = labels or {}
        self._quiet = False
        choices = (AUTOMATIC, *about.choices) if about.auto else about.choices
        self.widget = pmui.Select(
            label=label or field_label(name, about),
            options={labels.get(c, c.replace("_", " ")): c for c in choices},
            value=default or AUTOMATIC,
            description=about.help or None,
            size="small",
            sizing_mode="stretch_width",
            margin=(8, 0),
        )
        self.widget.param.watch(self._on_choice, "value")

    @property
    def value(self) -> str | None:
        return None if self.about.auto and self.widget.value == AUTOMATIC else self.widget.value

    def set(self, value: Any) -> None:
        self._quiet = True
        try:
            shown = AUTOMATIC if value is None else value
            if shown in self.widget.disabled_options:
                self.widget.disabled_options = [each for each in self.widget.disabled_options if each != shown]
            self.widget.value = shown
        finally:
            self._quiet = False

    def leave_out(self, choices: Sequence[str]) -> None:
        """Show these in grey; never the one that is chosen."""
        self.widget.disabled_options = [each for each in choices if each != self.widget.value]

    def __panel__(self) -> pn.viewable.Viewable:
        return self.widget

    def _on_choice(self, event: Any) -> None:
        if not self._quiet:
            self.listener()


class NumberField(Field):
    """A number; with `about.auto` it may be None, "automatic", and then the value in use is shown.

    span: end points of the slider where the field's own range is too wide to be useful.
    """

    def __init__(
        self,
        name: str,
        about: Hyper,
        default: float | None,
        *,
        label: str = "",
        owner: str = "",
        integer: bool = False,
        span: tuple[float, float] | None = None,
        compact: bool = False,
    ):
        super().__init__(name, about)
        self._owner = owner
        self._integer = integer = integer or about.kind == "int"
        self._span = span
        self._limit: float | None = None
        self._value = self._live = default
        self._log = about.log if span is not None else is_logarithmic(about)
        start, end = self._ends(default)
        self.widget = SliderEntry(
            label=label or field_label(name, about),
            help=about.help,
            start=start,
            end=end,
            grain=0.01 if self._log else 1 if integer else (end - start) / 100,
            logarithmic=self._log,
            integer=integer,
            switchable=about.auto,
            compact=compact,
            sizing_mode="stretch_width",
            margin=(5, 0),
        )
        self.widget.listener = self._on_user
        self._show()

    def _ends(self, default: float | None) -> tuple[float, float]:
        if self._span is None:
            return slider_range(self.about, default if default is not None else 1.0)
        return (math.log10(self._span[0]), math.log10(self._span[1])) if self._log else self._span

    @property
    def value(self) -> float | int | None:
        return self._value

    @property
    def error(self) -> str:
        return self.widget.message

    def set(self, value: float | None) -> None:
        self._value, self._live = value, self._live if value is None else value
        self._show()

    def renew(self, value: float | None) -> None:
        self._limit, self._value, self._live = None, value, value
        self._show(ends=self._ends(value))

    def check(self, value: Any) -> None:
        """ValueError where the field does not take `value`."""
        self._checked(value)

    def show_live(self, value: float) -> None:
        """The value in use, shown while the field is automatic."""
        if self._value is None and value > 0 and number_text(value) != number_text(self._live):
            self._live = value
            self._show()

    def show_limit(self, value: float | None) -> None:
        """Values below it are stable, and marked on the slider; None: not known."""
        self._limit = value
        self._show(self.widget.message)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.widget

    def _show(self, message: str = "", ends: tuple[float, float] | None = None) -> None:
        shown = self._live if self._value is None else self._value
        start, end = ends or (self.widget.start, self.widget.end)
        position = start
        if shown is not None:
            position = math.log10(shown) if self._log and shown > 0 else start if self._log else shown
            if self.about.auto and not start < position < end:
                # The right step size differs by powers of ten between problems: the slider follows.
                start, end = slider_range(self.about, shown)
        wanted = {
            "start": start,
            "end": end,
            "position": min(max(position, start), end),
            "text": number_text(shown, self._integer),
            "automatic": self.about.auto and self._value is None,
            "message": message,
            "limit": math.log10(self._limit) if self._limit and self._log else self._limit,
        }
        # A configuration that is opened sets all fields, most of them to what they show: an update that changes nothing costs as much.
        changed = {name: value for name, value in wanted.items() if getattr(self.widget, name) != value}
        if changed:
            self.widget.param.update(**changed)

    def _on_user(self, kind: str, raw: Any) -> None:
        if kind == "automatic":
            self._take(None if raw else self._live)
            return
        try:
            value = self._checked(self._at(raw) if kind == "position" else raw)
        except ValueError as error:
            self.widget.message = str(error)
            return
        self._take(value)

    def _take(self, value: Any) -> None:
        changed = value != self._value
        self._value, self._live = value, self._live if value is None else value
        # The browser may show the same value as other text, such as “1e2” for 100: send it ours.
        self.widget.param.trigger("text")
        self._show()
        if changed:
            self.listener()

    def _at(self, position: float) -> float:
        if not self._log:
            return round(position) if self._integer else float(f"{position:.4g}")
        value = 10.0**position
        return max(1, round(float(f"{value:.2g}"))) if self._integer else float(f"{value:.3g}")

    def _checked(self, raw: Any) -> Any:
        if isinstance(raw, str):
            text = raw.replace(" ", "").replace("−", "-")
            try:
                raw = float(text.replace(",", "") if THOUSANDS.fullmatch(text) else text)
            except ValueError:
                shown = raw if len(raw) <= 20 else raw[:17] + "..."
                example = number_text(self._live or 1.0, self._integer)
                raise ValueError(f"“{shown}” is not a number; write for example {example}.") from None
        if self._integer:
            return whole(self.key.replace("_", " "), raw, self.about.low, self.about.high)
        return check_hyper(self._owner or "run", self.key, raw, self.about)


def make_field(owner: str, name: str, about: Hyper, default: Any, compact: bool = False) -> Field:
    """The widget for one hyperparameter of a sampler."""
    if about.choices:
        return ChoiceField(name, about, default)
    return NumberField(name, about, default, owner=owner, compact=compact)


def field_of(
    declared: Any,
    name: str,
    label: str = "",
    span: tuple[float, float] | None = None,
    labels: dict[str, str] | None = None,
    default: Any = dataclasses.MISSING,
    **narrower: Any,
) -> Any:
    """The widget for a field that a class declares.  narrower: of its description, where a page takes less than the class does."""
    about = dataclasses.replace(hyper_fields(declared)[name], **narrower)
    value = default_of(declared, name) if default is dataclasses.MISSING else default
    if about.choices:
        return ChoiceField(name, about, value, labels, label)
    return NumberField(name, about, value, label=label, span=span)
