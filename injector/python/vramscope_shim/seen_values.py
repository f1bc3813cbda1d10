# SPDX-License-Identifier: Apache-2.0
"""What expressions of a forward are worth, as far as that is seen without running anything of the program: variables, what is below self, and
comparisons of those with constants. Everything else is UNKNOWN."""

import ast
from typing import Any, Container, Dict, Optional

from . import storage
from .type_forms import below_self
from .type_tests import SINGLE, UNKNOWN

_PLAIN = (bool, int, float, str, type(None))


def type_name(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


class Seen:
    """`variables`: of the frame that runs forward, empty once it has returned. `changed`: those that forward itself gives a value. `types`: of
    arguments, where forward has given them no other value."""

    def __init__(self, module: Any, variables: Dict[str, Any], changed: Container[str], types: Dict[str, str]) -> None:
        self._module, self._variables, self._changed, self._types = module, variables, changed, types

    def tensor(self, value: Any) -> Optional[Any]:
        """x of an expression x.dtype."""
        found = self._below(value) if isinstance(value, ast.Attribute) else self._variables.get(value.id) if isinstance(value, ast.Name) else None
        return found if storage.is_tensor(found) else None

    def type_of(self, value: Any) -> str:
        """Of what is not seen, the one of all that is recorded."""
        if isinstance(value, ast.Name) and value.id in self._types:
            return self._types[value.id]
        tensor = self.tensor(value)
        return SINGLE if tensor is None else type_name(tensor)

    def knows_type(self, value: Any) -> bool:
        return (isinstance(value, ast.Name) and value.id in self._types) or self.tensor(value) is not None

    def value_of(self, test: Any) -> Any:
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right, how = self._plain(test.left), self._plain(test.comparators[0]), test.ops[0]
            if left is UNKNOWN or right is UNKNOWN:
                return UNKNOWN
            if isinstance(how, (ast.Is, ast.IsNot)):
                return (left is right) == isinstance(how, ast.Is)
            if isinstance(how, (ast.Eq, ast.NotEq)) and type(left) in _PLAIN and type(right) in _PLAIN:
                return (left == right) == isinstance(how, ast.Eq)
            return UNKNOWN
        value = self._plain(test)
        return value if type(value) in _PLAIN else UNKNOWN

    def _plain(self, value: Any) -> Any:
        if isinstance(value, ast.Constant):
            return value.value
        if isinstance(value, ast.Name) and value.id not in self._changed:
            return self._variables.get(value.id, UNKNOWN)
        return self._below(value) if isinstance(value, ast.Attribute) else UNKNOWN

    def _below(self, value: Any) -> Any:
        """Read from dictionaries alone: a property would be the program's code."""
        found = self._module
        for name in below_self(value) or ("",):
            own = getattr(found, "__dict__", {})
            places = [own, *(own.get(kind) or {} for kind in ("_modules", "_parameters", "_buffers"))]
            found = next((each[name] for each in places if name in each), UNKNOWN)
            if found is UNKNOWN:
                return UNKNOWN
        return found
