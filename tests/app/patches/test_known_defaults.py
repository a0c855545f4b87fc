"""Defaults that are known for a class are those that Bokeh finds for each model, and none that can be changed is shared."""

from __future__ import annotations

import bokeh.models  # noqa: F401  so that all classes are known
from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.singletons import Undefined
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import ColumnDataSource, DatetimeTickFormatter, Div, HoverTool, Line, Range1d
from bokeh.plotting import figure
from bokeh.themes import Theme

import app.window.shell  # noqa: F401  brings the models of Panel and of the app, and begins to know defaults
from app.patches import known_defaults

PATCHED = ((PropertyDescriptor, "_get_default"), (PropertyDescriptor, "has_unstable_default"))
CLASSES = list(Model.model_class_reverse_map.values())


def descriptors(cls: type) -> list[PropertyDescriptor]:
    found = (cls.lookup(name) for name in cls.properties(_with_props=True))
    return [each for each in found if isinstance(each, PropertyDescriptor)]


def test_defaults_of_all_classes_are_bokehs():
    wholes = [getattr(owner, name).__wrapped__ for owner, name in PATCHED]
    overridden = vars(HasProps)["_overridden_defaults"].__func__.__wrapped__
    count = 0
    for cls in CLASSES:
        assert cls._overridden_defaults() == overridden(cls)
        try:
            model = cls()
        except (TypeError, ValueError, RuntimeError):  # cannot be made without arguments
            continue
        for each in descriptors(cls):
            if each.name in model._property_values:
                continue
            expected, unstable = wholes[0](each, model), wholes[1](each, model)
            assert each.has_unstable_default(model) is unstable
            for _ in range(2):
                found = each._get_default(model)
                assert found is Undefined if expected is Undefined else type(found) is type(expected)
                assert found == expected or found is expected, (cls, each.name)
            count += 1
    assert count > 5000


def test_what_can_be_changed_is_not_shared():
    first, second = Div(), Div()
    first.tags.append("mine")
    first.styles["color"] = "red"
    assert second.tags == [] and second.styles == {} and Div().tags == []
    sources = ColumnDataSource(), ColumnDataSource()
    sources[0].data["x"] = [1]
    assert "x" not in sources[1].data
    assert sources[0].selected is not sources[1].selected
    assert figure().x_range is not figure().x_range


def test_a_theme_and_what_is_set_come_before_a_default():
    assert Line().line_width == 1
    document = Document(theme=Theme(json={"attrs": {"Line": {"line_width": 7}}}))
    plot = figure()
    line = plot.line([0, 1], [0, 1]).glyph
    document.add_root(plot)
    assert line.line_width == 7 and Line().line_width == 1
    document.theme = Theme(json={})
    assert line.line_width == 1
    line.line_width = 3
    assert line.line_width == 3 and Line(line_width=2).line_width == 2


def test_a_page_is_sent_as_bokeh_would_send_it(monkeypatch):
    plot = figure(x_range=Range1d(0, 1), title="title")
    plot.scatter("x", "y", source=ColumnDataSource({"x": [1], "y": [2]}))
    plot.add_tools(HoverTool(tooltips=[("x", "@x")]))
    plot.xaxis.formatter = DatetimeTickFormatter()
    document = Document()
    document.add_root(plot)
    ours = document.to_json()
    for owner, name in PATCHED:
        monkeypatch.setattr(owner, name, getattr(owner, name).__wrapped__)
    assert document.to_json() == ours


def test_bokeh_itself_looks_for_each_default_again(monkeypatch):
    def sought() -> int:
        asked = []
        with monkeypatch.context() as patch:
            whole = PropertyDescriptor.instance_default
            patch.setattr(PropertyDescriptor, "instance_default", lambda *given: asked.append(1) or whole(*given))
            document = Document()
            document.add_root(figure())
            document.to_json()
        return len(asked)

    sought()
    ours = sought()
    for owner, name in PATCHED:
        monkeypatch.setattr(owner, name, getattr(owner, name).__wrapped__)
    assert sought() > 3 * ours


def test_it_begins_once():
    before = [vars(owner)[name] for owner, name in (*PATCHED, (HasProps, "_overridden_defaults"))]
    known_defaults.apply()
    assert [vars(owner)[name] for owner, name in (*PATCHED, (HasProps, "_overridden_defaults"))] == before
