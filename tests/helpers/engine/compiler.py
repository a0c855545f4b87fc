"""What tests need that have torch compile a step for the CPU."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest


def needs_compiler(test: Callable[..., Any]) -> Callable[..., Any]:
    """Skip the test where there is no C++ compiler, and where the compiler refuses what torch writes."""
    missing = pytest.mark.skipif(shutil.which("g++") is None, reason="compiling for a CPU needs a C++ compiler")
    refused = pytest.mark.skipif(
        os.environ.get("ATEN_CPU_CAPABILITY") == "default",
        reason="torch's compiler then writes vector code without its header, and g++ refuses it",
    )
    return missing(refused(test))
