"""The style that all components share."""

from __future__ import annotations

_BASE = """
:host { color: var(--panel-on-background-color); font-family: var(--bokeh-base-font);
  --edge: color-mix(in srgb, var(--panel-on-background-color) 20%, transparent); }
button { font: inherit; color: inherit; cursor: pointer; }
button:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--panel-primary-color); outline-offset: 2px; }
"""
