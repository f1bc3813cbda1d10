# SPDX-License-Identifier: Apache-2.0
"""Reports checkpoints of torch.utils.checkpoint with use_reentrant=False: forward regions, recomputations, and when what they keep is released.

Why the release: a checkpoint keeps its inputs and what it recomputed in Python objects, not in the autograd graph, so autograd's own releases do not
include them. They live as long as the checkpoint's frame object (torch 2.1 and later):

    frame made   inputs kept   forward   ...   recomputation   nodes run   frame freed
    <checkpoint N                  checkpoint N>  <rec. N  rec. N>         mark: N freed
"""

import itertools
import threading
import weakref
from functools import partial
from typing import Any, Dict, List, Tuple

from vramscope_core import guard, native, patches

HOOK = "python.checkpoint"


def install(checkpoint: Any) -> bool:
    """Wraps the classes of the module torch.utils.checkpoint; False if it lacks one of them."""
    kinds: List[Any] = [getattr(checkpoint, name, None) for name in ("_CheckpointFrame", "_checkpoint_hook", "_recomputation_hook")]
    if None in kinds:
        return False
    Checkpoints().install(*kinds)
    return True


class Checkpoints:
    def __init__(self) -> None:
        self._forward = native.NumberedRange(native.Kind.CHECKPOINT, "checkpoint")
        self._again = native.NumberedRange(native.Kind.CHECKPOINT, "recomputation")
        self._freed = native.moment(native.Mark.CHECKPOINT_FREED, "")
        self._numbers = itertools.count(1)
        self._frames: Dict[int, Tuple[int, Any]] = {}  # id of a living frame -> its number, and a weak reference that reports its end
        self._thread = threading.local()
        self._is_freed = guard.hook(HOOK, self._frame_freed)

    def install(self, frame: type, forward_hook: type, recomputation_hook: type) -> None:
        patches.wrap_method(frame, "__init__", guard.after(HOOK, self._frame_made))
        patches.wrap_method(forward_hook, "__init__", guard.after(HOOK, self._forward_of))
        patches.wrap_method(forward_hook, "__exit__", guard.after(HOOK, self._forward_done))
        patches.wrap_method(recomputation_hook, "__init__", guard.after(HOOK, self._recomputation_of))
        patches.wrap_method(recomputation_hook, "__enter__", guard.after(HOOK, self._recomputation_begins))
        patches.wrap_method(recomputation_hook, "__exit__", guard.after(HOOK, self._recomputation_done))

    def _frame_made(self, frame: Any, *_: Any, **__: Any) -> None:
        number = next(self._numbers)
        identity = id(frame)
        self._frames[identity] = (number, weakref.ref(frame, partial(self._is_freed, identity, number)))
        self._open_numbers().append(number)
        self._forward.begin(number)

    def _frame_freed(self, identity: int, number: int, _: Any) -> None:
        if self._frames.get(identity, (0,))[0] == number:
            del self._frames[identity]
        self._end_forward(number)  # without gradients there is no region, only the frame
        self._freed(number)

    def _forward_of(self, hook: Any, frame: Any, *_: Any, **__: Any) -> None:
        hook.vramscope_number = self._number_of(frame)

    def _forward_done(self, hook: Any, *_: Any) -> None:
        self._end_forward(hook.vramscope_number)

    def _end_forward(self, number: int) -> None:
        """Also ends the regions inside: an exception may have left them before they really began."""
        numbers = self._open_numbers()
        while number in numbers:
            self._forward.end(numbers.pop())

    def _recomputation_of(self, hook: Any, frame_reference: Any, *_: Any, **__: Any) -> None:
        hook.vramscope_number = self._number_of(frame_reference())

    def _recomputation_begins(self, hook: Any) -> None:
        self._again.begin(hook.vramscope_number)

    def _recomputation_done(self, hook: Any, *_: Any) -> None:
        self._again.end(hook.vramscope_number)

    def _number_of(self, frame: Any) -> int:
        return self._frames.get(id(frame), (0,))[0]

    def _open_numbers(self) -> List[int]:
        return self._thread.__dict__.setdefault("open_numbers", [])
