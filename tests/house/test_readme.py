"""The README's Python runs as pasted, its pictures are there, and it names every notebook and page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


SHORTER = {
    "gibbs_reference(problem)": "gibbs_reference(problem, sweeps=50)",
    'gradient="minibatch", steps=5000': 'gradient="minibatch", steps=500',
    "[1, 160, 160, 1]": "[1, 16, 16, 1]",
    "finite_width(network, [[-1.0], [0.0]])": "finite_width(network, [[-1.0], [0.0]], moves=1_500)",
    "estimate(problem))": "estimate(problem, steps=500))",
    "chains=4, steps=1000": "chains=4, steps=200",
    "chains=20_000, steps=2000": "chains=20_000, steps=200",
    "found = llc_core.estimate(network, steps=200": "found = llc_core.estimate(network, steps=50",
    "steps=20_000, trials=4": "steps=2_000, trials=4",
    "advance(20_000)": "advance(2_000)",
}
"""What would take most of the time: the same calls on less."""


@pytest.mark.long
def test_the_readme_runs():
    text = (ROOT / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    for long, short in SHORTER.items():
        assert long in code
        code = code.replace(long, short)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert "λ̂" in done.stdout and "step_size" in done.stdout
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (ROOT / picture).stat().st_size > 10_000


def test_every_notebook_and_page_is_named():
    text = (ROOT / "README.md").read_text()
    notebooks = [path.name[:2] for path in (ROOT / "lab/notebooks").glob("*.ipynb")]
    pages = [
        title
        for path in (ROOT / "app/pages").glob("*/page.py")
        for title in re.findall(r'^PAGE = PageInfo\("([^"]+)"', path.read_text(), re.M)
    ]
    assert len(notebooks) > 5 and "Landscapes" in pages
    assert [number for number in notebooks if f"`{number}`" not in text] == []
    assert [title for title in pages if f'"{title}"' not in text] == []
