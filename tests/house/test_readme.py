"""The README's Python runs as pasted, its pictures are there, and it names every notebook and page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
def test_the_readme_runs():
    text = (ROOT / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S)).replace(
        "gibbs_reference(problem)", "gibbs_reference(problem, sweeps=50)"
    )
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
