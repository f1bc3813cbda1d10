# SPDX-License-Identifier: Apache-2.0
"""The program's source, parsed without a word on its stderr: what its own compilation warned of, or would have, is not ours to say."""

import ast
import warnings
from typing import Any


def parse(text: str) -> Any:
    """Raises SyntaxError. The filter goes into the list itself: warnings.simplefilter() would have Python show again what it showed once."""
    filters: Any = warnings.filters  # type: ignore[attr-defined]  # this list, whatever another thread puts in its place meanwhile
    silent = ("ignore", None, Warning, None, 0)
    filters.insert(0, silent)
    try:
        return ast.parse(text)
    finally:
        filters.remove(silent)
