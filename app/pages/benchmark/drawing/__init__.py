"""How the figures of a sweep are drawn with HoloViews and Bokeh."""
