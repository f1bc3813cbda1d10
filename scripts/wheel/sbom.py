#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what is inside a wheel as a CycloneDX 1.6 document.

    scripts/wheel/sbom.py --version 0.1.0 <packages.txt >vramscope.cdx.json

Each line of the input is one package that is linked in, or compiled in from its headers: its registry, its name there and its version.

    deb libzstd-dev 1.5.4+dfsg2-5
    pypi ziglang 0.17.0
"""

import argparse
import json
import sys
from typing import Any, Dict

# SPDX identifiers of what the wheel takes from each package. Their full texts are in the wheel too.
LICENSES = {
    "fonts-inter": "OFL-1.1", "fonts-jetbrains-mono": "OFL-1.1", "imgui-bundle": "MIT AND Zlib", "libboost": "BSL-1.0", "libbrotli": "MIT",
    "libc++": "Apache-2.0 WITH LLVM-exception", "libfmt": "MIT",
    "libfreetype": "FTL", "libgcc": "GPL-3.0-or-later WITH GCC-exception-3.1", "libpng": "libpng-2.0",
    "libsqlite3": "blessing", "libstb": "MIT", "libstdc++": "GPL-3.0-or-later WITH GCC-exception-3.1", "libzstd": "BSD-3-Clause",
    "nlohmann-json3": "MIT", "wasi-libc": "Apache-2.0 WITH LLVM-exception AND MIT", "ziglang": "MIT", "zlib1g": "Zlib",
}


def license_of(name: str) -> str:
    found = [identifier for start, identifier in LICENSES.items() if name.startswith(start)]
    if not found:
        sys.exit(f"sbom.py: the license of {name} is not in this script's table")
    return found[-1]


def component(line: str) -> Dict[str, Any]:
    registry, name, version = line.split()
    place = f"deb/debian/{name}" if registry == "deb" else f"{registry}/{name}"
    url = f"pkg:{place}@{version}".replace("+", "%2B")
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url, "licenses": [{"expression": license_of(name)}]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    asked = parser.parse_args()
    own = f"pkg:pypi/vramscope@{asked.version}"
    parts = [component(line) for line in sorted(set(sys.stdin.read().splitlines()))]
    whole = {"type": "application", "bom-ref": own, "name": "vramscope", "version": asked.version, "purl": own, "licenses": [{"expression": "Apache-2.0"}]}
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": whole}, "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
