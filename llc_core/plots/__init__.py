"""Figures of results as HoloViews objects, for notebooks, reports and the app; `plot()` of a result makes one."""
