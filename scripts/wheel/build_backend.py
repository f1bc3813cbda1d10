# SPDX-License-Identifier: Apache-2.0
"""What pip calls for `pip install .` (PEP 517): scripts/wheel.sh makes the wheel.

    pip install .                                       operators are recorded through a library that is compiled when it is first needed
    pip install . --config-settings bridges=newest      ... that is in the installation (`newest` or `all`, as in scripts/wheel.sh)
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Optional

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "scripts"))
import make_wheel


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """Without this function, pip makes the wheel twice."""
    project = re.search(r'^project\(vramscope VERSION ([0-9.]+) .*DESCRIPTION "([^"]*)"', (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert project is not None
    folder = Path(metadata_directory) / f"vramscope-{project.group(1)}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(make_wheel.metadata(project.group(1), project.group(2), []))
    return folder.name


def build_wheel(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None) -> str:
    bridges = str((config_settings or {}).get("bridges", "none"))
    command = [str(SOURCE / "scripts/wheel.sh"), "--build", "--bridges", bridges, "--out", str(Path(wheel_directory).resolve())]
    # pip sets PYTHONPATH to hide the packages of its own Python; the build uses other Pythons.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if subprocess.run(command, env=environment).returncode:
        raise SystemExit("scripts/wheel.sh could not make the wheel. scripts/setup.sh installs what it needs.")
    return max(Path(wheel_directory).glob("vramscope-*.whl"), key=lambda path: path.stat().st_mtime).name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    raise SystemExit("vramscope has no source archive for pip: clone the repository.")
