# SPDX-License-Identifier: Apache-2.0
"""Finds the parts of vramscope that the package needs: the command, its C library and the recorder.

    VRAMSCOPE_BIN                     the command, if it is set
    PREFIX/bin/vramscope              with PREFIX/share/vramscope/site-packages/vramscope: a build or an installation; or where pip has installed it
    ENVIRONMENT/bin/vramscope         of the Python that runs
    vramscope                         on the PATH

The other parts are found relative to the command, as the command finds them."""

import os
import shutil
import sys
from pathlib import Path
from typing import Iterator, Optional

from .errors import Error

_PACKAGE = Path(os.path.abspath(__file__)).parent  # not resolved: in a build tree the files are links to the source
_FOLDERS = ("lib/vramscope", "lib64/vramscope", "injector")


def _commands() -> Iterator[Path]:
    named = os.environ.get("VRAMSCOPE_BIN")
    if named:
        yield Path(named)
        return
    yield _PACKAGE.parents[3] / "bin/vramscope"  # of PREFIX/share/vramscope/site-packages, and of PREFIX/lib/python3.X/site-packages
    yield _PACKAGE.parent / "bin/vramscope"  # pip install --target
    yield Path(sys.prefix) / "bin/vramscope"
    yield Path(sys.executable or "python3").parent / "vramscope"
    found = shutil.which("vramscope")
    if found:
        yield Path(found)


def command() -> str:
    """The path of the `vramscope` command."""
    for path in _commands():
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    raise Error("The command vramscope was not found. Install it, add its folder to PATH, or set VRAMSCOPE_BIN to its path.")


def library(name: str) -> str:
    """The path of one of vramscope's own libraries, such as "libvramscope_python.so"."""
    for path in _commands():
        found = _beside(path, name)
        if found:
            return found
    raise Error(f"{name} was not found in {' or '.join(_FOLDERS)} next to the command {command()}. Install vramscope completely.")


def _beside(command: Path, name: str) -> Optional[str]:
    for place in dict.fromkeys((command, Path(os.path.realpath(command)))):
        prefix = place.parent.parent
        triplets = sorted(prefix.glob("lib/*/vramscope"))  # Debian: lib/x86_64-linux-gnu
        for folder in (*(prefix / folder for folder in _FOLDERS), *triplets):
            if (folder / name).is_file():
                return str(folder / name)
    return None
