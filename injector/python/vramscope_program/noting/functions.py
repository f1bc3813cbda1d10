# SPDX-License-Identifier: Apache-2.0
"""Names of PyTorch's functions, under which another process finds them: torch.nn.functional.linear, Tensor.add, Tensor.grad.__get__.

Each is looked up once, together with its role for noting."""

import importlib
import sys
import types
from typing import Any, Dict, NamedTuple, Optional, Tuple

# They return properties of a tensor and compute nothing, so a re-run need not call them.
_QUESTIONS = frozenset((
    "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "element_size", "is_contiguous", "is_floating_point", "is_complex",
    "is_signed", "data_ptr", "get_device", "untyped_storage", "storage", "_typed_storage", "__len__", "__hash__", "__repr__", "__format__", "__dir__",
    "is_pinned", "is_shared", "is_same_size", "is_set_to", "has_names", "_is_view", "_has_names", "_use_count", "is_tensor", "result_type",
    "promote_types", "can_cast", "get_default_dtype", "is_nonzero", "__deepcopy__", "__reduce_ex__", "register_hook", "retain_grad",
    "register_post_accumulate_grad_hook", "is_inference", "is_neg", "is_conj", "is_grad_enabled", "is_autocast_enabled", "get_device_module",
    "_is_functional_tensor", "is_storage", "get_autocast_dtype", "get_autocast_gpu_dtype", "data_ptr"))
_HOOKING = frozenset(("register_hook", "register_post_accumulate_grad_hook"))
_READS_VALUES = frozenset(("item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero", "equal", "allclose",
                           "__contains__", "numpy"))
CONVERSIONS = frozenset(("to", "type", "type_as", "float", "half", "bfloat16", "double", "int", "long", "bool", "contiguous", "cuda", "cpu"))
FACTORIES = frozenset(("rand", "randn", "randint", "randperm", "zeros", "ones", "full", "empty", "tensor", "arange", "normal", "linspace"))


class Function(NamedTuple):
    name: str  # "" where another process would not find it
    last: str  # its own name
    is_question: bool
    reads_values: bool
    hooks: bool
    defaults: Dict[str, Any]  # of arguments that it gets by name
    numbers: Dict[str, int]  # of arguments that it gets by name or in their order; known for functions in Python


class Functions:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._known: Dict[Any, Function] = {}
        self._by_id: Optional[Dict[int, str]] = None

    def of(self, function: Any) -> Function:
        try:
            found = self._known.get(function)
        except TypeError:
            found = None
        if found is None:
            found = self._known[function] = self._find(function)
        return found

    @staticmethod
    def named(name: str) -> Function:
        return Function(name, name.rpartition(":")[2], False, False, False, {}, {})

    def _find(self, function: Any) -> Function:
        last = getattr(function, "__name__", "")
        if last in ("__get__", "__set__", "__delete__") and hasattr(function, "__self__"):
            attribute: Any = getattr(function.__self__, "__name__", None) or getattr(getattr(function.__self__, "fget", None), "__name__", "")
            return Function(f"Tensor.{attribute}.{last}", attribute if last == "__get__" else last, False, False, False, {}, {})
        name = self._name(function, last)
        return Function(name, last, last in _QUESTIONS or name.startswith("torch.ops.profiler"), last in _READS_VALUES, last in _HOOKING, _defaults(function),
                        {key: number for number, key in enumerate(_names(function))})

    def _name(self, function: Any, last: str) -> str:
        torch = self._torch
        kind = type(function).__name__
        if kind.endswith(("OpOverload", "OpOverloadPacket")):
            return "torch.ops." + str(function)
        if _is(getattr(torch.Tensor, last, None), function):
            return "Tensor." + last
        for owner in ("torch", "torch.nn.functional", "torch._C._nn", "torch.special", "torch.linalg", "torch.fft"):
            if _is(getattr(_module(owner), last, None), function):
                return f"{owner}.{last}"
        module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", last)
        if module and _is(look_up(module, path), function):
            return f"{module}:{path}"
        return self._search(function)

    def _search(self, function: Any) -> str:
        """Finds functions whose __name__ is another one: torch.nn.functional.max_pool2d is a function fn, torch.linalg.norm is linalg_norm, and x ** 2
        is Tensor.__pow__, a pow that is not Tensor.pow."""
        if self._by_id is None:
            self._by_id = {id(value): f"Tensor.{key}" for key, value in vars(self._torch.Tensor).items() if isinstance(value, types.FunctionType)}
            for owner in ("torch.nn.functional", "torch", "torch.linalg", "torch.fft", "torch.special", "torch.nested", "torch.nn.init"):
                module = _module(owner)
                for key, value in list(getattr(module, "__dict__", {}).items()):
                    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
                        self._by_id.setdefault(id(value), f"{owner}.{key}")
        return self._by_id.get(id(function), "")


def _names(function: Any) -> Tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount] if isinstance(function, types.FunctionType) else ()


def _defaults(function: Any) -> Dict[str, Any]:
    if not isinstance(function, types.FunctionType):
        return {}
    names = _names(function)
    given = function.__defaults__ or ()
    return {**dict(zip(names[len(names) - len(given):], given)), **(function.__kwdefaults__ or {})}


def _is(found: Any, function: Any) -> bool:
    if found is function:
        return True
    try:
        return found is not None and bool(found == function)
    except Exception:
        return False


def _module(name: str) -> Any:
    return sys.modules.get(name) or importlib.import_module(name)


def look_up(module: str, path: str) -> Any:
    """The object that another process would find there, or None."""
    found = sys.modules.get(module)
    if module == "__main__" or "<locals>" in path:
        return None
    for key in path.split("."):
        found = getattr(found, key, None)
    return found
