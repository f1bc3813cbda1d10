# SPDX-License-Identifier: Apache-2.0
"""The report's page inside a notebook."""

import html

HEIGHT = 720  # pixels


def frame(page: str) -> str:
    """A frame with the page. It is sandboxed: its script runs, but cannot reach the notebook, whose origin it does not share."""
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts" title="vramscope report" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>')
