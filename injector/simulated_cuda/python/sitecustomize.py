# SPDX-License-Identifier: Apache-2.0
"""Runs right after the recorder's sitecustomize in a dry run, arranges that vramscope_dryrun is ready when torch is, and steps aside.

This folder comes after the recorder's on PYTHONPATH. The recorder's sitecustomize lets the import system find the next one. That is this file, and it
does the same for the user's own. See injector/python/sitecustomize.py."""

import os
import sys


def _step_aside() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        if os.environ.get("VRAMSCOPE_DRYRUN"):
            import vramscope_dryrun

            vramscope_dryrun.arrange(os.environ["VRAMSCOPE_DRYRUN"])
    except Exception:
        pass  # the run is then neither shortened nor sped up, and the report shows it
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != folder]
    sys.modules.pop("sitecustomize", None)


_step_aside()

import sitecustomize  # noqa: E402, F401  the user's
