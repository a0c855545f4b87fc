"""Everything that makes a RunConfig but its problem: sampler and step size for the bar of a page, the rest for its side bar."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panel as pn

from app.controls.fields import Field, NumberField, make_field
from app.controls.run_fields import DEFAULTS, gradient_field, run_fields, sampler_field
from app.style import theme
from app.style.formula import displayable
from app.style.layout import Viewed, cell, folded
from llc_core.config import GRADIENTS, RunConfig
from llc_core.fields import default_of, hyper_fields
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import samplers

LENGTH = ("steps", "burn_in", "continued_from")
"""Fields of RunConfig that say how long a run is."""
SWEEPS = 1_000
"""Steps of a sampler that draws whole layers, once it is chosen."""
FOLDED = ("localization", "n_beta", "burn_in", "batch_size", "seed", "dtype", "device")
"""Fields in the part that is folded at first, below the sampler's own."""


class Controls(Viewed):
    """Reads and shows the fields of RunConfig except `problem`. `listener` is called after a change by the user.

    gradients: kinds that the page's problems offer; with a single one there is nothing to choose, nor a batch size.
    conditionals: whether they also offer exact conditional distributions, so that `Gibbs` can run.
    """

    choices: Sequence[pn.Column]
    """Sampler and step size, for the bar."""

    def __init__(self, gradients: Sequence[str] = GRADIENTS, conditionals: bool = False) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self._samplers = samplers(conditionals)
        self._longer: dict[str, Any] = {}
        self._subject, self._limit = "", None
        self._steps: int | None = None
        """Steps before they became sweeps; the next sampler that makes steps has them again."""
        self.polish = False
        """Whether w0 is to be polished; a button beside the result says so (`app.estimates.polishing`)."""
        self.sampler, self.gradient = sampler_field(self._samplers), gradient_field(gradients)
        self.fields = run_fields()
        self._own: dict[str, Field] = {}
        self._own_of: Any = None
        """The sampler whose fields these are."""
        self._step_place = pn.Column(sizing_mode="stretch_width", margin=0)
        self._own_place = pn.Column(sizing_mode="stretch_width", margin=0)
        self.sampler.listener = self._on_sampler
        self.gradient.listener = self._changed
        for field in self.fields.values():
            field.listener = self._changed
        self.formula = pn.pane.LaTeX(
            "", renderer="katex", sizing_mode="stretch_width", margin=0, css_classes=["formula"]
        )
        """One step of the sampler."""
        self._rebuild({})
        self.choices = cell(self.sampler, self.formula, stylesheets=[theme.UNFOLDS]), self._step_place
        self._view = self._arrange(batches=len(gradients) > 1)

    def _arrange(self, batches: bool) -> pn.Column:
        below = [self.fields[name] for name in FOLDED if name in self.fields and (batches or name != "batch_size")]
        return pn.Column(
            *([self.gradient] if batches else []),
            self.fields["chains"],
            self.fields["steps"],
            folded(self._own_place, *below),
            sizing_mode="stretch_width",
            margin=0,
        )

    @property
    def sampler_class(self) -> Any:
        return self._samplers[self.sampler.value]

    @property
    def values(self) -> dict[str, Any]:
        """Fields of RunConfig; raises ValueError (from the sampler) when they do not go together.

        A run that went on has its steps and burn-in to the step, which no share of a field says.
        """
        own = {name: field.value for name, field in self._own.items()}
        found = {name: field.value for name, field in self.fields.items()}
        found |= {"sampler": {"name": self.sampler.value, **own}, "gradient": self.gradient.value}
        found |= {"polish": self.polish, "device": found.get("device")}
        found |= self._longer or {"continued_from": None}
        return {name: found[name] for name in DEFAULTS}

    def go_on(self, config: RunConfig) -> None:
        """The present run continues and is now that of `config`: show how long it is."""
        self._take({name: getattr(config, name) for name in LENGTH})

    def show(self, settings: Mapping[str, Any]) -> None:
        """Set every field, defaults where `settings` says nothing, without reporting changes."""
        values = completed(settings)
        self.polish = values["polish"]
        self._take({name: values[name] for name in LENGTH})
        sampler = dict(values["sampler"])
        self.sampler.set(sampler.pop("name"))
        self.gradient.set(values["gradient"])
        for name, field in self.fields.items():
            if name not in LENGTH:
                field.set(values[name])
        self._rebuild(sampler)

    def check(self, settings: Mapping[str, Any]) -> None:
        """ValueError where a value of `show` lies outside what the fields take."""
        given = {**settings, **as_share(settings)}
        for name, field in self.fields.items():
            if isinstance(field, NumberField) and given.get(name) is not None:
                field.check(given[name])

    def choose(self, name: str, value: float) -> None:
        """Set one field, without reporting a change; KeyError where the sampler has none of this name."""
        {**self.fields, **self._own}[name].set(value)
        self.forget()

    def field(self, name: str) -> Field | None:
        """The control of a field of RunConfig or of the sampler; None where there is none."""
        chosen = {"sampler": self.sampler, "gradient": self.gradient}
        return {**chosen, **self.fields, **self._own}.get(name)

    def apply(self, name: str, value: Any) -> None:
        """Set one control as a visitor would; KeyError where there is none of this name."""
        if name == "sampler":
            self.sampler.set(value)
            self._on_sampler()
        elif name == "gradient":
            self.gradient.set(value)
            self._changed()
        else:
            self.choose(name, value)
            self._changed()

    def describe(self, sampler: Sampler, subject: str) -> None:
        """The sampler that is run now. subject: what the largest stable step depends on; another one is measured anew."""
        self.formula.object = displayable(sampler.formula)
        if subject != self._subject:
            self._subject, self._limit = subject, None
        self.show_limit(self._limit)

    def show_limit(self, limit: float | None) -> None:
        """Steps below it are stable, as the run has measured it; None, or not finite: it is not known yet.

        One that no field takes is not shown: it was measured where chains have overflowed.
        """
        if limit is not None and math.isfinite(limit):
            self._limit = limit
        step = self._own.get("step_size")
        if isinstance(step, NumberField):
            step.show_limit(self._limit if self._limit is not None and self._limit <= step.about.high else None)

    def show_live(self, values: Mapping[str, Any]) -> None:
        """The values in use, for fields that are automatic."""
        for name, field in {**self._own, "n_beta": self.fields["n_beta"]}.items():
            if isinstance(field, NumberField) and values.get(name) is not None:
                field.show_live(values[name])

    def _on_sampler(self) -> None:
        self._rebuild({})
        steps = self.fields["steps"]
        if self.sampler_class.needs_conditionals and steps.value > SWEEPS:
            self._steps = steps.value
            steps.set(SWEEPS)  # a sweep takes as long as many steps, and does as much
        elif self._steps is not None and not self.sampler_class.needs_conditionals:
            if steps.value == SWEEPS:
                steps.set(self._steps)
            self._steps = None
        self._changed()

    def _rebuild(self, values: Mapping[str, Any]) -> None:
        """Widgets for the sampler's own fields; those of the same sampler stay."""
        cls = self.sampler_class
        values = {**_own_defaults(cls), **values}
        if cls is self._own_of:
            for name, field in self._own.items():
                field.renew(values[name])
            return
        self._own_of = cls
        self._own = {
            name: make_field(cls.__name__, name, about, values[name], compact=name == "step_size")
            for name, about in hyper_fields(cls).items()
        }
        for field in self._own.values():
            field.listener = self._changed
        self._step_place.objects = [f for name, f in self._own.items() if name == "step_size"]
        self._own_place.objects = [f for name, f in self._own.items() if name != "step_size"]

    def forget(self) -> None:
        """The next run starts from the beginning: it does not continue the present one."""
        self._longer = {}

    def _take(self, length: dict[str, Any]) -> None:
        self._longer = length if length["continued_from"] is not None else {}
        for name, value in {**length, **as_share(length)}.items():
            if name in self.fields:
                self.fields[name].set(value)

    def _changed(self) -> None:
        self.forget()
        self.listener()


def completed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A value for every control: what `settings` says, else its default."""
    values = {**DEFAULTS, **settings}
    name = values["sampler"]["name"]
    return {
        **values,
        "sampler": {"name": name, **_own_defaults(samplers(conditionals=True)[name]), **values["sampler"]},
    }


def _own_defaults(sampler: Any) -> dict[str, Any]:
    """The sampler's own fields, without its name."""
    return {name: default_of(sampler, name) for name in hyper_fields(sampler)}


def as_share(settings: Mapping[str, Any]) -> dict[str, float]:
    """{"burn_in": share} for settings of a run that went on, whose burn-in is a number of steps; else empty."""
    if settings.get("continued_from") is None:
        return {}
    return {"burn_in": settings["burn_in"] / settings["steps"]}
