"""Colours, sizes and the style sheet. Colours are Okabe & Ito's, which colour-blind people can tell apart; each meaning
also has its own line style, so that nothing rests on colour alone. All are legible on white and on near-black. Long, since all sheets that pages
share are here."""

from __future__ import annotations

ESTIMATE = "#1583C9"  # their blue, lightened to be legible on near-black
TRUTH = "#D55E00"
"""All that is known exactly. What kind of truth it is, the line says: solid exact at w0, long dashes the least of all, dotted expected."""
LOCAL = GLOBAL = EXPECTED = TRUTH
GOOD = "#009E73"
MARK = "#B5649B"  # Okabe & Ito's reddish purple, darkened to be legible on white
RECENT = "#8a8f98"
ONE_CHAIN = "#B8860B"
PINNED = "#E69F00"
HISTOGRAM, TARGET, PREDICTED, EXACT = ESTIMATE, TRUTH, GOOD, MARK
SIDES = {"left": ESTIMATE, "right": "#E69F00"}
LADDER = (ESTIMATE, "#8C8C8C", "#CC79A7", "#B8A800", "#E69F00")
"""Curves of a family, the first one the subject."""
CHAINS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C", "#B8A800")

DASHES: dict[str, list[int]] = {
    **{"local": [], "global": [10, 5], "expected": [2, 4]},
    **{"target": [], "predicted": [10, 5], "exact": [2, 4]},
}

PRIMARY_LIGHT, PRIMARY_DARK = "#0B5A8A", "#7CC0EC"

_SMALL = {"styleOverrides": {"sizeSmall": {"fontSize": ".875rem"}}}
_COMPONENTS = {"MuiButton": _SMALL, "MuiToggleButton": _SMALL}
"""The library's own small letters are too small to be read from some distance."""
_LETTERS = {"fontWeightMedium": 400}  # there are two weights, see docs/develop/look.md

THEME_CONFIG = {
    "light": {
        "palette": {"primary": {"main": PRIMARY_LIGHT}, "background": {"default": "#F4F6F8", "paper": "#FFFFFF"}},
        "components": _COMPONENTS,
        "typography": _LETTERS,
    },
    "dark": {
        "palette": {"primary": {"main": PRIMARY_DARK}, "background": {"default": "#0F1317", "paper": "#171C22"}},
        "components": _COMPONENTS,
        "typography": _LETTERS,
    },
}

HEADER = {
    "& .MuiAppBar-root": {"backgroundColor": "#0B4A73", "backgroundImage": "none", "color": "#FFFFFF"},
    "& .MuiAppBar-root .MuiToolbar-root": {"minHeight": "52px"},
    # A picture of three bars says to few people that the settings are behind it.
    "@media (min-width: 600px)": {
        "& .MuiAppBar-root button[aria-label='Open drawer']::after": {
            "content": "'Settings'",
            "fontSize": "1rem",
            "marginLeft": "8px",
        },
        "& .MuiAppBar-root button[aria-label='Open drawer']": {"borderRadius": "8px"},
    },
}
"""The same dark blue in both themes, so that white text on it stays legible."""

EDGE = "color-mix(in srgb, var(--panel-on-background-color) 20%, transparent)"

CARD = f"""
:host {{
  background: var(--panel-surface-color);
  border: 1px solid {EDGE};
  border-radius: 10px; padding: 16px;
  box-sizing: border-box; max-height: none !important;
}}
@media (max-height: 920px) {{ :host {{ padding: 8px 16px; }} }}
"""

TALL = """
:host { max-height: none !important; }
.scroll-button { display: none; }
"""
"""Panel limits a column to the height of its container, here the window's: cards then overlap on a phone. It also puts an
empty button into it, which would take a gap, and in a grid a row."""

GAP = """
:host { --gap: 16px; }
@media (max-height: 920px) { :host { --gap: 8px; } }
"""
"""Between the cards of a page."""

PAIR = f"""
{TALL}
:host {{ display: grid !important; grid-template-columns: repeat(auto-fit, minmax(min(430px, 100%), 1fr)); gap: var(--gap, 16px); align-items: stretch; }}
"""
"""A native column made a grid, so that its height follows its cards."""

UNEQUAL = f"""
{TALL}
:host {{ display: flex !important; flex-flow: row wrap; gap: var(--gap, 16px); align-items: stretch; }}
"""
LEADING, BESIDE = "20 1 380px", "1 1 470px"
"""The same with pictures in the first card and numbers in the other, which take 470 px. Both fit beside the open settings at 1280 px."""

LEVEL = """
:host(:not([style*="display: none"])) { display: grid !important; grid-template: subgrid / minmax(0, 1fr); grid-row: span ROWS;
  row-gap: 0; align-content: start; }
.scroll-button { display: none; }
"""
"""Of a card in a pair: its rows are those of the pair, so that what stands in one row of both cards is level."""

SIDE_BY_SIDE = f"""
{TALL}
:host {{ display: flex !important; flex-direction: row; flex-wrap: wrap; align-items: center; gap: 6px 20px; }}
"""

WORDS = f"""
{TALL}
@media (max-height: 920px) and (min-width: 600px) {{
  :host {{ display: flex !important; flex-flow: row wrap; align-items: center; gap: 4px 16px; }}
  .whole {{ flex: 1 1 100%; margin: 0; }}
  .presets {{ flex: none !important; width: max-content !important; position: relative; z-index: 40; }}
  .lesson {{ flex: 1 1 20rem !important; width: auto !important; align-self: center !important; margin: 0; min-width: 0; }}
}}
"""
"""What is said of a page above its choices: in a low window the lesson stands beside the button of the presets."""

BAR = f"""
{CARD}
:host {{ display: grid !important; grid-template-columns: repeat(COLUMNS, minmax(0, 1fr)); gap: 2px 18px;
  align-items: start; padding: 4px 16px; }}
.scroll-button {{ display: none; }}
.whole {{ grid-column: 1 / -1; }}
@media (max-width: 899px) {{ :host {{ grid-template-columns: repeat(2, minmax(0, 1fr)); }} }}
@media (max-width: 599px) {{ :host {{ grid-template-columns: minmax(0, 1fr); }} }}
"""
"""The choices of a page side by side, and below all of them what cannot be run."""

UNFOLDS = """
:host { position: relative; }
.formula { max-height: 1.9rem; overflow: hidden; white-space: nowrap; padding: 2px 6px; border-radius: 6px; font-size: .875rem; }
:host(:not(:hover, :focus-within)) .formula { mask-image: linear-gradient(90deg, #000 calc(100% - 2rem), transparent); }
:host(:is(:hover, :focus-within)) .formula { position: absolute; z-index: 30; top: 46px; left: 0; width: max-content !important;
  max-width: min(560px, 90vw); max-height: none; white-space: normal; background: var(--panel-surface-color); box-shadow: 0 6px 20px #0004; padding: 10px 14px; }
"""
"""A formula below a choice: its beginning, and the whole of it below the pointer or the focus."""

FILLING = """
:host { flex: none !important; height: clamp(236px, calc(100vh - 568px), 700px) !important; }
@media (max-height: 920px) { :host { height: clamp(236px, calc(100vh - 434px), 700px) !important; } }
@media (max-height: 920px) and (max-width: 1199px) { :host { height: clamp(236px, calc(100vh - 508px), 700px) !important; } }
@media (max-width: 899px) { :host { height: 260px !important; } }
:host(.lab-full) { height: var(--whole) !important; }
"""
"""Of a picture that the rest of a window's height belongs to."""


def high(height: str, tall: str, wide: int = 900) -> str:
    """Of a figure whose height follows the window, unless it has the whole screen to itself.

    height: a length of CSS.  tall: another for windows of more than 920 px height, where the presets are not folded.
    wide: px of width from which it does; in others, as on a phone, it has its own height.
    """
    rule = "{ :host(:not(.lab-full)) { flex: none !important; height: HEIGHT !important; } }"
    windows = {f"(min-width: {wide}px)": height, f"(min-width: {wide}px) and (min-height: 921px)": tall}
    return "\n".join(f"@media {which} {rule.replace('HEIGHT', length)}" for which, length in windows.items())


STACK = f"""
{TALL}
:host {{ display: flex !important; flex-direction: column; gap: var(--gap, 16px); }}
"""

TEXT = """
:host { color: var(--panel-on-background-color); font-family: var(--bokeh-base-font); }
h2 { font-size: 1rem; font-weight: 700; margin: 0 0 6px; }
p { margin: 0 0 8px; line-height: 1.45; }
p:last-child { margin-bottom: 0; }
.muted { opacity: .72; }
.small { font-size: .875rem; }
"""

ERROR = """
:host { color: var(--danger-bg-color); font-family: var(--bokeh-base-font); font-size: .875rem; line-height: 1.4; }
"""

LESSON = """
:host { position: relative; z-index: 14; }
p { font-size: 1rem; margin: 0; min-height: 1.45em; }
abbr { text-decoration: underline dotted; text-underline-offset: 3px; cursor: help; }
abbr:focus::after { content: attr(title); position: absolute; left: 0; top: calc(100% + 4px); max-width: min(36rem, 90vw);
  padding: 8px 12px; border-radius: 6px; box-shadow: 0 6px 20px #0004; background: var(--panel-surface-color); }
"""
"""A pointer has the browser's own card over a term; a finger, and the focus, have this one."""

ASIDE = """
summary { font-size: .875rem; cursor: pointer; width: max-content; padding: 2px 0; line-height: 1.45; }
ol { margin: 4px 0 0; padding-left: 1.4em; font-size: 1rem; line-height: 1.45; max-width: 62rem; }
"""
"""Words that open below their title."""

WORD_LIST = """
dl { margin: 0 0 10px; line-height: 1.4; }
dt { font-weight: 700; }
dd { margin: 0; font-size: .875rem; }
"""

HEADLINE = """
h1 { font-size: 1.25rem; font-weight: 700; line-height: 1.35; margin: 0; min-height: 1.35em; }
"""

ONE_LINE = """
:host { height: 2.6rem; position: relative; z-index: 15; min-width: 0; }
p { min-height: 0 !important; box-sizing: border-box; padding-right: 2.2em !important; max-height: 60vh; overflow: hidden;
  background: color-mix(in srgb, var(--tone) 12%, var(--panel-surface-color)) !important; }
p:not(:hover, :focus) { white-space: nowrap; text-overflow: ellipsis; }
p:is(:hover, :focus) { box-shadow: 0 6px 20px #0004; overflow-y: auto; }
p::after { content: "▾"; position: absolute; right: .8em; top: 8px; opacity: .7; }
p:is(:hover, :focus)::after { content: "▴"; }
"""
"""Of a verdict: one line, which the pointer or the focus unfolds over what stands below. Nothing moves."""

VERDICT = """
p { font-size: 1rem; margin: 0; padding: 8px 12px; border-left: 4px solid var(--tone); border-radius: 6px; min-height: 1.45em;
  background: color-mix(in srgb, var(--tone) 12%, transparent); }
@media (max-width: 1500px) { p { min-height: 2.9em; } }
.good { --tone: #009E73; }
.fair { --tone: #1583C9; }
.warn { --tone: #E69F00; }
.bad { --tone: #D55E00; }
.wait { --tone: #8a8f98; }
.note { opacity: .75; }
p:not(:hover, :focus) .rest { display: none; }
p:not(:hover, :focus) .brief::after { content: " " attr(data-sign); }
.brief { text-decoration: underline dotted; text-underline-offset: 3px; cursor: help; }
"""

LEGEND = """
.heard { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h2 { margin: 0 14px 2px 0; }
@media (max-height: 920px) and (min-width: 1200px) { h2 { float: left; } }
ul { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 0; padding: 0; list-style: none; font-size: .875rem; }
li { display: inline-flex; align-items: center; gap: 6px; white-space: nowrap; }
"""

TABLE = """
:host { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { padding: 4px 10px 4px 0; text-align: right; font-variant-numeric: tabular-nums; font-weight: 400; white-space: nowrap; }
th[scope=row], th:first-child { text-align: left; }
thead th { font-size: .875rem; opacity: .82; vertical-align: bottom; white-space: normal; }
tbody tr { border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
"""

AS_WRITTEN = {"& .MuiToggleButton-root": {"textTransform": "none", "whiteSpace": "nowrap"}}
"""For groups of buttons: all of them alike, and γ in capitals would be another letter."""

ICON = (
    "data:image/svg+xml,"
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%230B5A8A'/%3E"
    "%3Cpath d='M6 9c3 15 7 16 10 16s7-1 10-16' fill='none' stroke='white' stroke-width='3.5' stroke-linecap='round'/%3E"
    "%3Ccircle cx='16' cy='20' r='3.2' fill='%23E69F00'/%3E%3C/svg%3E"
)
