#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the web viewer together: web_page.py viewer.wasm FOLDER

FOLDER gets index.html with its parts next to it, for a web server, and viewer.html, the same in one file with everything embedded.
Only the module's expected imports are accepted: anything else would fail in the page.
"""

import base64
import gzip
import hashlib
import pathlib
import re
import shutil
import sys
from typing import Dict

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "viewer/platform/web"
SCRIPTS = ("page.js", "worker.js", "files.js", "drawing.js")
FONTS = {
    "text.otf": "opentype/inter/Inter-Regular.otf",
    "strong.otf": "opentype/inter/Inter-SemiBold.otf",
    "mono.ttf": "truetype/jetbrains-mono/JetBrainsMono-Regular.ttf",
}
MOST_COMPRESSED = 2_500_000  # bytes, of everything that a browser loads


def number(data: bytes, at: int) -> "tuple[int, int]":
    """An unsigned LEB128 number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def import_modules(module: bytes) -> "set[str]":
    """The modules that a WebAssembly module imports functions from."""
    at = 8
    while at < len(module):
        section = module[at]
        size, at = number(module, at + 1)
        if section != 2:
            at += size
            continue
        found = set()
        count, at = number(module, at)
        for _ in range(count):
            names = []
            for _ in range(2):
                length, at = number(module, at)
                names.append(module[at : at + length].decode())
                at += length
            if module[at] != 0:
                raise SystemExit(f"web_page.py: {names} is not a function")
            _, at = number(module, at + 1)
            found.add(names[0] if names[0] != "env" else f"env.{names[1]}")
        return found
    return set()


def packed(name: str, data: bytes) -> str:
    text = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    return f'<script type="application/gzip+base64" data-name="{name}">{text}</script>\n'


def one_script(parts: Dict[str, str]) -> str:
    """The worker's modules as one script, without their import lines."""
    text = "\n".join(parts[name] for name in ("files.js", "drawing.js", "worker.js"))
    return re.sub(r"^import .*\n", "", text, flags=re.M).replace("export class", "class")


def one_file(folder: pathlib.Path, parts: Dict[str, str]) -> str:
    page = (SOURCE / "index.html").read_text()
    style = "\n" + (SOURCE / "page.css").read_text()
    script = "\n" + parts["page.js"].replace("export async", "async")
    digest = {name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in (("style", style), ("script", script))}
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest['script']}' 'wasm-unsafe-eval' blob:; worker-src blob:; "
        f"style-src 'sha256-{digest['style']}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = re.sub(r'content="default-src[^"]*"', lambda _: f'content="{policy}"', page)
    page = page.replace('<link rel="stylesheet" href="page.css">', f"<style>{style}</style>")
    embedded = packed("worker.js", one_script(parts).encode())
    embedded += "".join(packed(name, (folder / name).read_bytes()) for name in ("viewer.wasm", *FONTS))
    return page.replace(
        '<script type="module" src="page.js"></script>', f'{embedded}<!-- files -->\n<script type="module">{script}</script>'
    )


def main() -> None:
    module = pathlib.Path(sys.argv[1])
    folder = pathlib.Path(sys.argv[2])
    strange = import_modules(module.read_bytes()) - {"host", "wasi_snapshot_preview1"}
    if strange:
        raise SystemExit(f"web_page.py: {module} imports what no page has: {', '.join(sorted(strange))}")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(module, folder / "viewer.wasm")
    for name, font in FONTS.items():
        found = pathlib.Path("/usr/share/fonts") / font
        if not found.exists():
            raise SystemExit(f"web_page.py: {found} is missing: run scripts/setup.sh --web")
        shutil.copyfile(found, folder / name)
    for name in ("index.html", "page.css", *SCRIPTS):
        shutil.copyfile(SOURCE / name, folder / name)
    parts = {name: (SOURCE / name).read_text() for name in SCRIPTS}
    (folder / "viewer.html").write_text(one_file(folder, parts))
    loaded = [path for path in folder.iterdir() if path.name != "viewer.html"]
    size = sum(len(gzip.compress(path.read_bytes(), 9)) for path in loaded)
    if size > MOST_COMPRESSED:
        raise SystemExit(f"web_page.py: {folder} has {size:,} bytes compressed, more than {MOST_COMPRESSED:,}")
    print(f"{folder}: {sum(path.stat().st_size for path in loaded):,} bytes, {size:,} compressed; viewer.html {(folder / 'viewer.html').stat().st_size:,}")


main()
