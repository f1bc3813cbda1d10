# SPDX-License-Identifier: Apache-2.0
"""Packages next to this one, which sys.path may not have any more when they are needed."""

import importlib.machinery
import importlib.util
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing alone would cost more than everything here
    from typing import Any


def module(name: str) -> "Any":
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = name.partition(".")[0]
    if package not in sys.modules:
        spec: Any = importlib.machinery.PathFinder.find_spec(package, [folder])
        sys.modules[package] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[package])
    return importlib.import_module(name)
