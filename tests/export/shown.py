# SPDX-License-Identifier: Apache-2.0
"""What the HTML page and the viewer show, as numbers: the page's embedded documents, read as a browser reads them, and the state that the viewer
writes at a place of the run, without a display."""
import json
import os
import re
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run


def embedded(page: Path) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The report and the picture in a page, from which its script draws."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', text, re.DOTALL)
    assert [name for name, _ in found] == ["report", "picture"], [name for name, _ in found]
    return json.loads(found[0][1]), json.loads(found[1][1])


def numbers(document: Any, path: str = "") -> Iterator[Tuple[str, Any]]:
    """Every number, boolean and null of a document, with its path. Texts are left out, because a page may cut them."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from numbers(value, f"{path}.{key}")
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from numbers(value, f"{path}.{index}")
    elif not isinstance(document, str):
        yield path, document


def columns_at_peak(picture: Dict[str, Any]) -> Tuple[int, Dict[str, int]]:
    """The time and the categories of the timeline's highest column. The document stores differences between columns."""
    columns = picture["columns"]
    kept = {key: list(accumulate(differences)) for key, differences in columns["categories"].items()}
    totals = [sum(values) for values in zip(*kept.values())]
    highest = totals.index(max(totals))
    return list(accumulate(columns["peak_ns"]))[highest], {key: values[highest] for key, values in kept.items()}


def viewer() -> Optional[Path]:
    """The path of the viewer; None if it was not built."""
    path = Path(recorded_run.vramscope()).resolve().parent / "vramscope-viewer"
    return path if os.access(path, os.X_OK) else None


def viewer_states(source: Path, folder: Path, places: Sequence[str]) -> List[Dict[str, Any]]:
    """The viewer's state at each of these places (docs/viewer.md)."""
    script = folder / "script.txt"
    lines = [line for number, place in enumerate(places) for line in (f"goto {place}", "wait 2", f"state {folder}/state{number}.json")]
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = recorded_run.run([recorded_run.vramscope(), "view", "--renderer", "software", "--size", "800x600", "--script", str(script), str(source)],
                            env=recorded_run.clean_environment(XDG_STATE_HOME=str(folder / "state")))  # not the layout that a person here has saved
    assert done.code == 0, done.stderr.decode()
    return [json.loads((folder / f"state{number}.json").read_text(encoding="utf-8")) for number in range(len(places))]
