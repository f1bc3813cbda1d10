#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs an installed tree as a wheel, with nothing but the standard library.

    scripts/make_wheel.py TREE --out DIR --version 0.1.0 --summary TEXT --platform manylinux_2_28_x86_64 --licenses DIR --sbom FILE

    TREE/bin/vramscope      vramscope-0.1.0.data/scripts/vramscope      pip: VENV/bin/vramscope
    TREE/lib/..., share/... vramscope-0.1.0.data/data/lib/...           pip: VENV/lib/..., where the command looks for its files
    TREE/share/vramscope/site-packages/vramscope/...    vramscope/...   pip: VENV/lib/python3.X/site-packages/vramscope
    DIR/LICENSE, ...        vramscope-0.1.0.dist-info/licenses/LICENSE
    FILE of --sbom          vramscope-0.1.0.dist-info/sboms/FILE        PEP 770

The format is that of the PyPA's "Binary distribution format" 1.0 and "Core metadata" 2.4. Two runs over equal files make equal wheels: members are
sorted, and their time is $SOURCE_DATE_EPOCH, or 1980. Prints the path of the wheel.
"""

import argparse
import base64
import hashlib
import os
import stat
import time
import zipfile
from pathlib import Path
from typing import Iterator, List, Tuple

NAME = "vramscope"
README = Path(__file__).resolve().parent.parent / "README.md"
EARLIEST = 315532800  # 1980: a zip file has no earlier time
MODULES = ("share", "vramscope", "site-packages")
PYTEST_PLUGIN = "vramscope/pytest_plugin.py"


def files(folder: Path) -> Iterator[Path]:
    """All files below the folder, except those that Python compiled there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def place(path: Path, data: str) -> str:
    """Where a file of the tree is in the wheel; `data` is NAME-VERSION.data."""
    parts = path.parts
    if parts[: len(MODULES)] == MODULES:
        return "/".join(parts[len(MODULES) :])
    return "/".join((data, "scripts", *parts[1:]) if parts[0] == "bin" else (data, "data", *parts))


def metadata(version: str, summary: str, licenses: List[str]) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {version}", f"Summary: {summary}", "License-Expression: Apache-2.0",
             *(f"License-File: {name}" for name in licenses), "Requires-Python: >=3.8",
             "Classifier: Operating System :: POSIX :: Linux", "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + README.read_text(encoding="utf-8")


class Wheel:
    """A wheel that is being written. close() adds RECORD: each member with its hash and its size."""

    def __init__(self, path: Path, information: str) -> None:
        self.information = information
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.time = time.gmtime(max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST))))[:6]
        self.record: List[Tuple[str, str, int]] = []

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        member = zipfile.ZipInfo(name, self.time)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = (stat.S_IFREG | mode) << 16
        self.zip.writestr(member, content, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append((name, f"sha256={digest}", len(content)))

    def close(self) -> None:
        own = f"{self.information}/RECORD"
        rows = [f"{name},{digest},{size}" for name, digest, size in self.record] + [f"{own},,"]
        self.add(own, ("\n".join(rows) + "\n").encode())
        self.zip.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--summary", required=True)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--licenses", type=Path, required=True)
    parser.add_argument("--sbom", type=Path, required=True)
    asked = parser.parse_args()

    tag = f"py3-none-{asked.platform}"
    base = f"{NAME}-{asked.version}"
    information = f"{base}.dist-info"
    licenses = list(files(asked.licenses))
    asked.out.mkdir(parents=True, exist_ok=True)
    path = asked.out / f"{base}-{tag}.whl"
    unfinished = path.with_suffix(".unfinished")
    wheel = Wheel(unfinished, information)
    for file in files(asked.tree):
        executable = os.access(file, os.X_OK)
        wheel.add(place(file.relative_to(asked.tree), f"{base}.data"), file.read_bytes(), 0o755 if executable else 0o644)
    for file in licenses:
        wheel.add(f"{information}/licenses/{file.name}", file.read_bytes())
    wheel.add(f"{information}/sboms/{asked.sbom.name}", asked.sbom.read_bytes())
    if asked.tree.joinpath(*MODULES, PYTEST_PLUGIN).exists():
        wheel.add(f"{information}/entry_points.txt", b"[pytest11]\nvramscope = vramscope.pytest_plugin\n")
    wheel.add(f"{information}/METADATA", metadata(asked.version, asked.summary, [file.name for file in licenses]).encode())
    wheel.add(f"{information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close()
    unfinished.replace(path)
    print(path)


if __name__ == "__main__":
    main()
