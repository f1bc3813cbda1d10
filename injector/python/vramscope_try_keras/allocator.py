# SPDX-License-Identifier: Apache-2.0
"""Settings of TensorFlow's allocator, in the form that `vramscope replay --settings` reads, as the environment variables that TensorFlow reads.

    allow_growth:True          TF_FORCE_GPU_ALLOW_GROWTH=true, which overrides the program's set_memory_growth()
    garbage_collection:False   TF_ENABLE_GPU_GARBAGE_COLLECTION=false"""

import os
from typing import Dict

from vramscope_core import import_hook
from vramscope_try.notes import Notes

_VARIABLES = {"allow_growth": "TF_FORCE_GPU_ALLOW_GROWTH", "garbage_collection": "TF_ENABLE_GPU_GARBAGE_COLLECTION"}
_TRUE = ("True", "true", "1")


def install(settings: str, notes: Notes) -> None:
    wanted: Dict[str, str] = {}
    for name, _, value in (one.partition(":") for one in settings.split(",") if one):
        if name not in _VARIABLES:
            import_hook.when_imported("tensorflow", lambda name=name: notes.refused(  # type: ignore[misc]
                "alloc-conf", f"TensorFlow has no environment variable for {name}"))
            return
        wanted[_VARIABLES[name]] = "true" if value in _TRUE else "false"
    os.environ.update(wanted)

    def check() -> None:
        text = " ".join(f"{name}={value}" for name, value in wanted.items())
        if all(os.environ.get(name) == value for name, value in wanted.items()):
            notes.applied("alloc-conf", text)
        else:
            notes.refused("alloc-conf", "the program sets the variables of TensorFlow's allocator itself")

    import_hook.when_imported("tensorflow", notes.guarded("alloc-conf", check))
