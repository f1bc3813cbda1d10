# SPDX-License-Identifier: Apache-2.0
"""How many tokens back the model's attention looks at most, told in deep steps, as marks.

Why: transformers makes masks only where a sequence is as long as that window, and shorter ones go without. The recorded operators show one
of the two; which lengths lie on the other side, the number alone says.
"""

from typing import Any, Dict, Iterator, Set, Tuple

from . import native

# As configurations of Hugging Face's transformers call it, whose masks are made so (masking_utils.py), and modules that keep it themselves.
NAMES = ("sliding_window", "attention_chunk_size")


class SlidingWindows:
    def __init__(self) -> None:
        self._seen: Set[int] = set()  # configurations and modules, by id, in this stretch of deep steps
        self._told: Set[Tuple[str, int]] = set()

    def begin(self) -> None:
        """Deep steps begin: what is told lies in them, whatever else of the recording is kept."""
        self._seen.clear()
        self._told.clear()

    def tell(self, module: Any) -> None:
        """Of a module that runs: what it and its configuration say. Each number is told once until the next ones begin."""
        if id(module) in self._seen:
            return
        self._seen.add(id(module))
        for name, tokens in _windows_of(module.__dict__):
            self._tell(name, tokens)
        config = module.__dict__.get("config")
        if config is None or id(config) in self._seen:
            return
        self._seen.add(id(config))
        for name, tokens in _windows_of(getattr(config, "__dict__", {})):
            self._tell(name, tokens)

    def _tell(self, name: str, tokens: int) -> None:
        if (name, tokens) not in self._told:
            self._told.add((name, tokens))
            native.moment(native.Mark.SLIDING_WINDOW, name)(tokens)


def _windows_of(values: Dict[str, Any]) -> Iterator[Tuple[str, int]]:
    for name in NAMES:
        tokens = values.get(name)
        if type(tokens) is int and tokens > 0:
            yield name, tokens
