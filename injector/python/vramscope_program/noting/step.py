# SPDX-License-Identifier: Apache-2.0
"""Collects the instructions of one step, in order: calls, deaths of names, reads of types and shapes, nested modules.

    ["c", function, args, named, result, place]       a call                      ["d", name, ...]      the program dropped these
    ["t", read, name]  ["s", read, name]              its type, its shape is read ["i", name, input]    an input that is made on the device
    ["m", path, args, named, result, place]           a module of PyTorch's own, as a whole
    ["M", path, args, results, body]                  any other: args and results are names
    ["k", way, args, settings, results, body]         a checkpoint                ["f", class, args, result, place]   an autograd Function
    ["e", slot, kind, args]  ["x", slot]              a context entered, left     ["o", optimizer, what, args]        an optimizer's method
    ["g", what, tensor or optimizer, result]          a GradScaler that is switched off                 ["z", path, set_to_none]   Module.zero_grad()
"""

import os
import sys
import weakref
from typing import Any, Dict, List, Optional, Set, Tuple

from . import lines, sizes
from .functions import CONVERSIONS, FACTORIES, Function, Functions
from .names import Names
from .trees import Trees, spec_of
from .values import Unnotable, Values, tensors_in

MAX_INSTRUCTIONS = 100000
KERNELS = {"FLASH_ATTENTION": "_get_flash_sdp_enabled", "EFFICIENT_ATTENTION": "_get_mem_efficient_sdp_enabled", "MATH": "_get_math_sdp_enabled",
           "CUDNN_ATTENTION": "_get_cudnn_sdp_enabled"}  # of scaled_dot_product_attention; all are on unless the program turns some off
RECENT = 6  # an argument's type may come from one of this many last reads, if none is in the same function


class Step:
    def __init__(self, torch: Any, functions: Functions, names: Names, device: Any) -> None:
        self._torch = torch
        self._functions = functions
        self._names = names
        self._device = device
        self.values = Values(torch, self.name)
        self.values.type_of = self._read_of
        self.values.limit_of = self._limit_of
        self.trees: Trees
        self.body: List[Any] = []
        self._bodies: List[List[Any]] = [self.body]
        self.inputs: List[Dict[str, Any]] = []
        self._hosts: Dict[int, Tuple[Any, int]] = {}  # id -> weak reference, input
        self.others: Dict[str, Dict[str, Any]] = {}  # tensors that were there before the step: name -> spec, instruction
        self.carried: Dict[str, Any] = {}  # names of the step before that are used: what they are
        self._reads = 0
        self._types: List[Tuple[Any, int, int, int]] = []  # type, read, id of the frame's code, line
        self._argument: Optional[Tuple[str, Optional[int]]] = None  # the keyword argument that is being encoded, and its number
        self._shape_reads: Dict[int, Tuple[Any, int, Any, int, int]] = {}  # id -> weak reference, read, shape, bodies, the innermost's id
        self._places: Dict[Any, int] = {}
        self.places: List[str] = []
        self.missing: List[str] = []
        self.values_read: List[str] = []
        self.backward_seen = False
        self._count = 0
        self._stated: Set[str] = set()
        self._ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
        folder = os.path.dirname(torch.__file__) + os.sep
        self._known_files: Dict[str, bool] = {}
        python = os.path.dirname(os.path.dirname(self._ours))
        self._passed_over = (self._ours, os.path.join(python, "vramscope_core"), os.path.join(python, "vramscope_shim"), folder + "overrides.py",
                             folder + "_tensor.py", folder + "functional.py", folder + "nn" + os.sep + "functional.py", folder + "_jit_internal.py",
                             folder + "nn" + os.sep + "modules" + os.sep + "module.py")

    # --- what the instructions are made of

    def emit(self, instruction: List[Any]) -> List[Any]:
        self._count += 1
        if self._count > MAX_INSTRUCTIONS:
            raise Unnotable("more calls than can be recorded for a step")
        self._bodies[-1].append(instruction)
        return instruction

    def lack(self, sentence: str) -> None:
        if sentence not in self.missing and len(self.missing) < 20:
            self.missing.append(sentence)

    def deaths(self) -> None:
        """Called before anything is noted, so that deaths of names are noted where they happened."""
        gone = self._names.gone()
        if gone:
            last = self._bodies[-1][-1] if self._bodies[-1] else None
            if last is not None and last[0] == "d":
                last.extend(gone)
            else:
                self.emit(["d", *gone])

    def name(self, tensor: Any) -> str:
        """The name of a tensor that the program uses. A tensor that is not known yet becomes an input."""
        known = self._names.of(tensor)
        if known is not None:
            if known.startswith("%p") and known not in self.carried:
                self.carried[known] = spec_of(tensor)
            return known
        known = self.trees.name_of(tensor)
        if known is not None:
            return known
        host = self._hosts.get(id(tensor))
        if host is not None and host[0]() is tensor:
            return f"<{host[1]}"
        if tensor.device.type != self._device.type:
            return self._host(tensor)
        number = self._names.add_from_outside(tensor)
        self.others[number] = {"spec": spec_of(tensor), "instruction": self.emit(["i", number, self._input(tensor)]), "id": id(tensor)}
        return number

    def _host(self, tensor: Any) -> str:
        index = self._input(tensor)
        self._hosts[id(tensor)] = (weakref.ref(tensor), index)
        return f"<{index}"

    def _input(self, tensor: Any) -> int:
        spec = spec_of(tensor)
        self.inputs.append({"name": f"input{len(self.inputs)}", "shape": spec[0], "dtype": spec[1], "device": spec[2], "requires_grad": spec[3]})
        return len(self.inputs) - 1

    def bind(self, value: Any) -> Any:
        """The names of a result, including new ones."""
        torch = self._torch
        if isinstance(value, torch.Tensor):
            known = self._names.of(value) or self.trees.name_of(value)
            if known is None:
                host = self._hosts.get(id(value))
                known = f"<{host[1]}" if host is not None and host[0]() is value else self._names.add(value)
            return known
        if isinstance(value, (tuple, list)):
            inner = [self.bind(each) for each in value]
            return ["T", *inner] if any(each is not None for each in inner) else None
        if isinstance(value, dict):
            inner = [[self.values.encode(key), self.bind(each)] for key, each in value.items()]
            return ["D", *inner] if any(each is not None for _, each in inner) else None
        return None

    def knows(self, tensor: Any) -> bool:
        return (self._names.of(tensor) or self.trees.name_of(tensor)) is not None

    def position(self) -> int:
        return len(self._bodies[-1])

    def cut(self, position: int) -> None:
        """Removes what was noted in the open body since `position`."""
        del self._bodies[-1][position:]

    def frame(self) -> Any:
        """The program's own frame that makes a call: skips frames of ours and of PyTorch's Python API."""
        frame: Any = sys._getframe(1)
        known = self._known_files
        while frame is not None:
            file = frame.f_code.co_filename
            passed_over = known.get(file)
            if passed_over is None:
                passed_over = known[file] = file.startswith(self._passed_over)
            if not passed_over:
                break
            frame = frame.f_back
        return frame

    def place(self, frame: Any) -> Optional[int]:
        if frame is None:
            return None
        key = (frame.f_code.co_filename, frame.f_lineno)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self.places)
            self.places.append(f"{os.path.basename(key[0])}:{key[1]}")
        return found

    # --- types

    def _read_type(self, tensor: Any, dtype: Any) -> None:
        frame = self.frame()
        read = self._reads
        self._reads += 1
        self.emit(["t", read, self.name(tensor)])
        self._types.append((dtype, read, id(frame.f_code), frame.f_lineno))
        del self._types[:-64]

    def _read_of(self, dtype: Any) -> Optional[int]:
        """The most recent read that gave this type, preferably in the calling function; None if the line writes the type out, or gives none."""
        candidates = [read for read in self._types if read[0] is dtype]
        if not candidates:
            return None
        frame = self.frame()
        if lines.writes_type(frame, dtype) or self._argument is not None and not lines.may_give(frame, *self._argument):
            return None
        same = [read for read in candidates if read[2] == id(frame.f_code)]
        if same:
            return same[-1][1]
        recent = [read for read in self._types[-RECENT:] if read[0] is dtype]
        return recent[-1][1] if recent else None

    def _limit_of(self, value: float) -> Any:
        """A reference to the type that was read, if `value` is a limit of it: torch.finfo(x.dtype).min depends on the type of x. Else None."""
        for dtype, read, _, _ in reversed(self._types):
            if dtype.is_floating_point:
                about = self._torch.finfo(dtype)
                if value in (about.min, about.max):
                    return ["~m", read, "min" if value == about.min else "max"]
        return None

    # --- properties of a tensor that the program may compute with

    def shape_of(self, tensor: Any, shape: Any) -> Any:
        """`shape` with numbers that keep their origin (sizes.py)."""
        known = self._shape_reads.get(id(tensor))
        if known is None or known[0]() is not tensor or known[2:] != (tuple(shape), len(self._bodies), id(self._bodies[-1])):
            read = self._reads
            self._reads += 1
            self.emit(["s", read, self.name(tensor)])
            known = self._shape_reads[id(tensor)] = (weakref.ref(tensor), read, tuple(shape), len(self._bodies), id(self._bodies[-1]))
        return self._torch.Size([sizes.Size(size, [known[1], index]) for index, size in enumerate(shape)])

    def question(self, function: Function, args: Any, result: Any) -> Any:
        """Notes a read of a type or shape; returns the value that the program gets."""
        torch = self._torch
        tensor: Any = args[0] if args else None
        if type(result) is torch.dtype and function.last == "dtype":
            self._read_type(tensor, result)
        elif isinstance(result, torch.Size) and function.last in ("shape", "size"):
            return self.shape_of(tensor, result)
        elif type(result) is int and function.last in ("size", "__len__"):
            dimension = int(args[1]) if len(args) > 1 else 0
            if function.last == "__len__" or len(args) > 1:
                return self.shape_of(tensor, tensor.shape)[dimension]
        return result

    # --- calls

    def prepared(self, function: Optional[Function], args: Any, named: Any) -> Tuple[Any, Any, Any, Any]:
        """The encoded arguments, and the arguments for the function."""
        self.values.has_size = False
        self._argument = None
        try:
            encoded, encoded_named = self._encoded(function, args, named)
        except Unnotable as error:
            place = self.place(self.frame())
            call = "a call" if function is None else f"the call of {function.last}"
            raise Unnotable(f"{error} in {call} at {'?' if place is None else self.places[place]}") from None
        self._argument = None
        if self.values.has_size:
            args, named = sizes.plain(args), sizes.plain(named)
        return encoded, encoded_named, args, named

    def _encoded(self, function: Optional[Function], args: Any, named: Any) -> Tuple[Any, Any]:
        usual = {} if function is None else function.defaults
        encoded, encoded_named = [self.values.encode(each) for each in args], {}
        for key, each in named.items():
            if key not in usual or usual[key] is not each:
                self._argument = key, None if function is None else function.numbers.get(key)
                encoded_named[key] = self.values.encode(each)
        return encoded, encoded_named

    def called(self, function: Function, encoded: Any, named: Any, args: Any, result: Any, place: Optional[int]) -> Any:
        """Notes a call that has returned; returns what the program gets instead of `result`."""
        torch = self._torch
        if isinstance(result, torch.Tensor) and args and result is args[0] and function.last in CONVERSIONS:
            result = self._alias(result)
        found = tensors_in(torch, result, [])
        if not self._is_of_device(found, args):
            return result
        if function.reads_values:
            where = self.places[place] if place is not None else "?"
            if where not in self.values_read:
                self.values_read.append(where)
        if self._is_input(function, found, encoded, named):
            self.emit(["i", self._names.add(result), self._input(result)])
            return result
        if not function.name:
            self.lack(f"the function {function.last} cannot be found by name")
        if function.last == "backward":
            self.backward_seen = True
        instruction = ["c", function.name, encoded, named, self.bind(result), place]
        if function.last == "scaled_dot_product_attention":
            self._emit_attention(instruction)
        else:
            self.emit(instruction)
        return result

    def whole_module(self, module: Any, instruction: List[Any]) -> None:
        if any(isinstance(each, self._torch.nn.MultiheadAttention) for each in module.modules()):
            self._emit_attention(instruction)
        else:
            self.emit(instruction)

    def _emit_attention(self, instruction: List[Any]) -> None:
        """Emits the instruction within a context that allows only the kernels that the program has chosen, by sdpa_kernel() or globally."""
        chosen = [name for name, is_on in KERNELS.items() if getattr(self._torch._C, is_on, lambda: True)()]
        if len(chosen) < len(KERNELS):
            self.emit(["e", -1, "attention", chosen])
        self.emit(instruction)
        if len(chosen) < len(KERNELS):
            self.emit(["x", -1])

    def _is_of_device(self, results: Any, args: Any) -> bool:
        """False for work that a program does only on the host, mostly to make its batches: it is not noted."""
        kind = self._device.type
        if kind == "cpu" or any(each.device.type == kind for each in results):
            return True
        given = tensors_in(self._torch, args, [])
        return any(each.device.type == kind for each in given) or not (results or given)

    def _is_input(self, function: Function, results: Any, encoded: Any, named: Any) -> bool:
        if len(self._bodies) > 1 or self.backward_seen or len(results) != 1 or function.last not in FACTORIES or results[0].dim() == 0:
            return False
        text = repr((encoded, named))
        return not any(sign in text for sign in ("%", "#", "'=", "'<"))

    def own_name(self, value: Any) -> Any:
        """The same tensors; those that require gradients as new objects, with names of their own."""
        if isinstance(value, (tuple, list)):
            return type(value)(map(self.own_name, value))
        return self._alias(value) if isinstance(value, self._torch.Tensor) and value.requires_grad else value

    def _alias(self, tensor: Any) -> Any:
        """Another object for the same tensor: under a change, the conversion may create a new tensor, so both names need their own lifetimes."""
        if not tensor.requires_grad:
            try:
                return tensor.data if type(tensor) is self._torch.Tensor else tensor
            except RuntimeError:  # within a transform of torch.func, such as vmap
                return tensor
        if not self._torch.is_grad_enabled():
            return tensor
        return self._torch.ops.aten.alias(tensor)

    # --- nested bodies

    def open(self, body: List[Any]) -> None:
        """Later instructions go into this body."""
        self._bodies.append(body)

    def close(self, body: List[Any]) -> None:
        while self._bodies[-1] is not body:
            self._bodies.pop()
        self._bodies.pop()

    def names_in(self, value: Any) -> List[str]:
        return [name for name in (self.name(tensor) for tensor in tensors_in(self._torch, value, [])) if name[0] in "%<"]
