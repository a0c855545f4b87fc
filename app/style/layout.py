"""How pages are put together: cards, and pairs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.style import theme
from app.style.figures import lean
from app.style.later import Later
from app.style.legend import heading


class Viewed(pn.viewable.Viewer):
    """What is shown by its `_view`."""

    _view: pn.viewable.Viewable

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view


def card(*objects: Any) -> pn.Column:
    return pn.Column(
        *objects, sizing_mode="stretch_width", stylesheets=[theme.CARD], margin=0, css_classes=["lab-card"]
    )


def inner_card(*objects: Any) -> pn.Column:
    """A part of a card that looks like the rest of it, and goes on the whole screen, or on a projector, by itself."""
    part = card(*objects)
    part.stylesheets = [theme.TALL, ":host { background: var(--panel-surface-color); }"]
    return part


def arranged(sheet: str, *objects: Any, **options: Any) -> pn.Column:
    """A column whose children lie as a style sheet says, which needs `!important` against Bokeh's own.

    It is taken off while the column is hidden: it would show the column again.
    """
    made = pn.Column(*objects, **{"sizing_mode": "stretch_width", "margin": 0, **options}, stylesheets=[sheet])

    def follow(event: Any) -> None:
        made.stylesheets = [sheet] if event.new else [theme.TALL]

    made.param.watch(follow, "visible")
    return made


def pair(*cards: pn.Column, leading: bool = False) -> pn.Column:
    """Side by side where there is room, else below each other.  leading: the first has the width that the others do not need."""
    for member, flex in zip(cards, (theme.LEADING, *[theme.BESIDE] * len(cards)), strict=False):
        wide = {"flex": flex} if leading else {}
        member.styles = {"min-width": "0", "max-width": "100%", "height": "auto", **wide}
    return arranged(theme.UNEQUAL if leading else theme.PAIR, *cards)


def bar(choices: Sequence[Any], fault: pn.pane.HTML) -> pn.Column:
    """The few choices that a page is about, above its picture. fault: a `complaint` on what they say together."""
    fault.css_classes = ["whole"]
    made = arranged(theme.BAR.replace("COLUMNS", str(len(choices))), *choices, fault)
    made.css_classes = ["lab-bar"]
    return made


def cell(*parts: Any, **options: Any) -> pn.Column:
    """One of them, with what belongs to it."""
    return pn.Column(*parts, **{"sizing_mode": "stretch_width", "margin": 0, **options})


def level_pair(*cards: pn.Column) -> pn.Column:
    """A pair whose cards have the same rows: more words on one side move the figures below them on both."""
    for member in cards:
        rows = sum(getattr(part, "styles", {}).get("position") != "absolute" for part in member)
        member.stylesheets = [*member.stylesheets, theme.LEVEL.replace("ROWS", str(rows))]
    return pair(*cards)


def stacks(*columns: Sequence[pn.Column], leading: bool = False) -> pn.Column:
    """Cards below each other in columns side by side: a short card leaves no hole beside a tall one.  leading: as of a `pair`."""
    made = []
    for cards in columns:
        cards[-1].styles = {"flex": "1 0 auto"}
        made.append(arranged(theme.STACK, *cards))
    return pair(*made, leading=leading)


def page(*objects: Any) -> pn.Column:
    """The main part of a page."""
    return pn.Column(
        *objects,
        sizing_mode="stretch_width",
        margin=(0, 18, 24, 18),
        styles={"gap": "var(--gap)"},
        stylesheets=[theme.TALL, theme.GAP],
    )


def prose(*sheets: str, margin: Any = 0, **options: Any) -> pn.pane.HTML:
    """A place for words, empty at first. sheets: style sheets beside that of all texts."""
    return pn.pane.HTML("", sizing_mode="stretch_width", margin=margin, stylesheets=[theme.TEXT, *sheets], **options)


def complaint(margin: Any = (4, 0)) -> pn.pane.HTML:
    """A place for what cannot be run; not seen before there is something to say."""
    return pn.pane.HTML("", visible=False, sizing_mode="stretch_width", margin=margin, stylesheets=[theme.ERROR])


def complain(place: pn.pane.HTML, message: str) -> None:
    """Say in a `complaint` what cannot be run, aloud for a screen reader; an empty message takes it back."""
    place.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))


def folded(*objects: Any, title: str = "Advanced") -> pmui.Accordion:
    """What few visitors want, below one word that opens it."""
    return pmui.Accordion(
        (title, pn.Column(*objects, sizing_mode="stretch_width", margin=(0, 6))),
        active=[],
        dynamic=True,  # not built until it is opened: the page loads sooner
        title_variant="subtitle2",
        variant="outlined",
        elevation=0,
        margin=(10, 0),
        sizing_mode="stretch_width",
    )


def plotted(plot: Any, margin: Any = 0, filling: bool = False) -> pn.pane.Bokeh:
    """filling: as high as the window leaves room below what stands above the pictures of a page."""
    if filling:
        plot.stylesheets = [theme.FILLING]
    return pn.pane.Bokeh(lean(plot), sizing_mode="stretch_width", margin=margin)


def toolbar(*objects: Any) -> pn.FlexBox:
    """Buttons and menus below a run's numbers, and words beside them."""
    return pn.FlexBox(*objects, gap="12px", align_items="center", sizing_mode="stretch_width", margin=(10, 0, 0, 0))


def side_bar(sections: Mapping[str, Sequence[Any]], later: Later) -> pn.Column:
    """What a page puts into the side bar: headings, and what stands below each. They come later."""
    column = pn.Column(sizing_mode="stretch_width", margin=(4, 16, 24, 16))
    for number, (title, objects) in enumerate(sections.items()):
        above = heading(title)
        above.margin = (14 if number else 0, 0, 0, 0)
        later.put(column, [above, *objects])
    return column


def one_in_list(label: str, options: Mapping[str, Any], value: Any, **more: Any) -> pmui.Select:
    """The same as `one_of` as a list that opens: for many options, or where they are not the page's point."""
    return pmui.Select(label=label, options=dict(options), value=value, size="small", **{"margin": 0, **more})


def one_of(options: Mapping[str, Any], value: Any) -> pmui.RadioButtonGroup:
    """A row of buttons of which one is pressed; options: what each says, and what it stands for."""
    return pmui.RadioButtonGroup(options=dict(options), value=value, size="small", margin=0, sx=theme.AS_WRITTEN)
