"""What visitors took away before the modules moved opens as before: links, configurations, scripts."""

from __future__ import annotations

import json
import re
import runpy

import pytest
from old_files import OLD, content, text

from app.pages import load_pages
from app.sharing.links import decode

EXPECTED = content("pages.expected.json")
SCRIPTS = sorted(path.stem for path in OLD.glob("*.script"))
NUMBER = r"\d+\.?\d*"


@pytest.fixture(scope="module")
def views():
    """The pages of which something old is kept, beside the old sweep's store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLC_LAB_STORES", str(OLD))
        made = {page.key: page.build() for page in load_pages() if page.key in EXPECTED}
        yield made
        for view in made.values():
            view.close()


@pytest.fixture
def untouched(views):
    """The pages as a visitor without a link finds them."""
    first = {key: view.configuration() for key, view in views.items()}
    yield views
    for key, view in views.items():
        view.restore(first[key])


RENAMED = {"dead chains": "diverged chains"}
"""Words of that day, and what is said in their place."""


def shown(view):
    return json.loads(json.dumps(view.configuration()))


@pytest.mark.long
@pytest.mark.parametrize("key", EXPECTED)
def test_an_old_link_opens(untouched, key):
    link = decode(text(f"{key}.link").strip())
    assert link.page == key and link.hide == ("answers",) and dict(link.config) == EXPECTED[key]
    assert shown(untouched[key]) != EXPECTED[key]
    untouched[key].restore(link.config)
    assert shown(untouched[key]) == EXPECTED[key]


@pytest.mark.parametrize("key", EXPECTED)
def test_an_old_configuration_opens(untouched, key):
    menu = untouched[key].takeaway.menu
    assert shown(untouched[key]) != EXPECTED[key]
    menu.on_upload(text(f"{key}.json"))
    assert menu.message["text"] == "The configuration is set." and not menu.message["bad"]
    assert shown(untouched[key]) == EXPECTED[key]
    assert json.loads(untouched[key].takeaway.content("config")[1]) == content(f"{key}.json"), "and is handed out again"


SINCE = "from the variance of the losses"
"""How a line begins that estimates did not print then."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("key", SCRIPTS)
def test_an_old_script_runs_and_prints_the_same(key, tmp_path, capsys):
    """Rounding moves a chain by far less than a twentieth of its own noise. The error itself was too small in these runs of a few
    dozen steps: it may only have grown."""
    (tmp_path / "script.py").write_text(text(f"{key}.script"))
    runpy.run_path(str(tmp_path / "script.py"), run_name="__main__")
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(SINCE)]
    for now, before in zip(printed[:2], text(f"{key}.printed").splitlines()[:2], strict=True):
        numbers, old = ([float(x) for x in re.findall(NUMBER, line)] for line in (now, before))
        slack = old[1] / 20 if "±" in before else 0.005 * max(old)
        for word, of_today in RENAMED.items():
            before = before.replace(word, of_today)
        assert re.sub(NUMBER, "", now) == re.sub(NUMBER, "", before)
        if "±" in before:
            assert numbers[1] >= old[1] or numbers[1] == pytest.approx(old[1], abs=slack)
            numbers, old = numbers[:1], old[:1]
        assert numbers == pytest.approx(old, abs=slack)
