# SPDX-License-Identifier: Apache-2.0
"""The answer of a verb: the document that it prints with --json, with its keys as attributes too."""

from typing import Any, Dict, List


class Answer(Dict[str, Any]):
    """A dict whose keys can also be written as attributes. docs/json.md lists the keys of each verb, with their units.

    >>> report = vramscope.open(example).report()
    >>> report.peak.categories.activation == report["peak"]["categories"]["activation"]
    True
    """

    exit_code: int = 0
    """Exit code of the verb: 0 = done, 1 = the answer is no, 3 = the question could not be answered completely."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"this answer has no '{key}'; it has {', '.join(self)}") from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self]
