# SPDX-License-Identifier: Apache-2.0
"""Reports optimizer steps: their intervals, their parameters, gradients and state tensors, and where training steps end.

torch calls our two global hooks before and after each step() of each optimizer (2.0 and later). In 1.13 the scope "Optimizer.step#Adam.step", which
every step opens, is used instead. In all releases that scope shows a step that raised."""

import importlib
import weakref
from functools import partial
from time import monotonic
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from vramscope_core import guard, native, patches
from vramscope_core.pace import Pace

from . import compiler, storage
from .data import tensors_in
from .modules import Registry
from .steps import TrainingLoop, Turn
from .told import Told

HOOK = "python.optimizer"


class Track(Turn):
    """One optimizer that has been seen to step."""

    __slots__ = ("reference", "window", "depth", "pace", "looking", "signs", "states", "others")

    def __init__(self, optimizer: Any, reference: Any) -> None:
        super().__init__()
        name = type(optimizer).__name__
        self.reference = reference
        self.window = native.StepRange(name, id(optimizer))
        self.depth = 0  # step() of a subclass may call step() of its base: both are hooked, the outer one counts
        self.pace = Pace()
        self.looking = False
        self.signs: Tuple[Any, ...] = ()
        self.states = Told(native.Source.OPTIMIZER)
        self.others = Told(native.Source.OPTIMIZER)  # gradients, and parameters of no module


class Optimizers:
    def __init__(self, torch: Any, registry: Registry, loop: TrainingLoop, gradients_are_seen: bool) -> None:
        """gradients_are_seen: the injector labels gradients itself, when autograd accumulates them."""
        self._torch = torch
        self._registry = registry
        self._loop = loop
        self._gradients_are_seen = gradients_are_seen
        self._tracks: Dict[int, Track] = {}
        self.before = guard.hook(HOOK, self._before)
        self.after = guard.hook(HOOK, self._after)
        self.raised = guard.hook(HOOK, self._raised)
        self._is_gone = guard.hook(HOOK, self._gone)
        self.hooked = False
        self.around: Tuple[Any, Any] = (guard.nothing, guard.nothing)  # called before and after the outermost step() of an optimizer, while a step is noted

    def install(self, torch: Any) -> None:
        optimizer = importlib.import_module("torch.optim.optimizer")  # torch.optim deletes the attribute
        register_pre = getattr(optimizer, "register_optimizer_step_pre_hook", None)
        register_post = getattr(optimizer, "register_optimizer_step_post_hook", None)
        if register_pre is None or register_post is None:
            native.coverage(HOOK, native.State.HOOKED, "by scope: this torch has no global optimizer hooks")
            return
        patches.register(torch, register_pre, self.before)
        patches.register(torch, register_post, self.after)
        self.hooked = True
        native.coverage(HOOK, native.State.HOOKED)

    def forget(self) -> None:
        self._tracks.clear()
        self.before = self.after = self.raised = self._is_gone = guard.nothing  # each of them held this object

    def keep_hooks(self) -> None:
        """In 2.0 to 2.2, torch.compile() removes the function that calls the hooks from torch's own optimizers. This installs another one. It is the
        only function of ours that can appear in a traceback: when step() raises in such a program."""
        calling_hooks = compiler.around_optimizer_steps()
        for kind in list(vars(self._torch.optim).values()):
            if not isinstance(kind, type) or not issubclass(kind, self._torch.optim.Optimizer) or "step" not in vars(kind):
                continue
            step = vars(kind)["step"]
            if getattr(step, "hooked", False) and getattr(step, "__code__", None) not in (calling_hooks, self._stepping(len).__code__):
                patches.wrap_method(kind, "step", self._stepping)

    def _stepping(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(optimizer: Any, *args: Any, **settings: Any) -> Any:
            if guard.is_compiling():
                return step(optimizer, *args, **settings)
            self.before(optimizer)
            try:
                result = step(optimizer, *args, **settings)
            except BaseException:
                self.raised(optimizer)
                raise
            self.after(optimizer)
            return result

        return stepping

    # --- around step()

    def _before(self, optimizer: Any, _args: Any = None, _kwargs: Any = None) -> None:
        track = self._tracks.get(id(optimizer)) or self._meet(optimizer)
        track.depth += 1
        if track.depth > 1:
            return
        self.around[0](optimizer, _args, _kwargs)
        if monotonic() > track.pace.next_look:
            self._look_before(optimizer, track)
        track.window.begin()

    def _after(self, optimizer: Any, _args: Any = None, _kwargs: Any = None) -> None:
        track = self._ended(optimizer)
        if track is None:
            return
        try:
            track.count += 1
            track.window.done(track.count)
            state = optimizer.state
            if track.looking or track.signs != (id(state), len(state), len(optimizer.param_groups)):
                self._look_after(optimizer, track)
            self._loop.stepped(track)
        finally:  # after our own looks, which are not to be noted
            self.around[1]()

    def _raised(self, optimizer: Any) -> None:
        """An exception ended step(): closes its window, counts nothing, and reports the state that it has created so far."""
        track = self._ended(optimizer)
        if track is None:
            return
        track.window.end()
        try:
            self._look_after(optimizer, track)
        finally:
            self.around[1]()

    def _ended(self, optimizer: Any) -> Optional[Track]:
        """The optimizer's track if this is the end of an outermost step() whose beginning was seen, else None."""
        track = self._tracks.get(id(optimizer))
        if track is None or track.depth == 0:
            return None
        track.depth -= 1
        return track if track.depth == 0 else None

    def has_stepped(self) -> bool:
        return bool(self._tracks)

    def tell_held(self, optimizer: Any) -> None:
        """Reports what an optimizer already holds. Its steps are counted from the next one on."""
        track = Track(optimizer, None)
        self._look_before(optimizer, track)
        self._look_after(optimizer, track)

    def _meet(self, optimizer: Any) -> Track:
        registry = self._registry
        if not self._tracks:
            native.proven(HOOK)
            others = registry.search()
            self._loop.expect({id(other) for other in others if getattr(type(other).step, "hooked", False)})
            registry.look(only_if_due=False)
        elif any(registry.name_of(parameter) is None for _, parameter in _parameters(optimizer)):
            registry.search()
            registry.look(only_if_due=False)
        track = self._tracks[id(optimizer)] = Track(optimizer, weakref.ref(optimizer, partial(self._is_gone, id(optimizer))))
        self._loop.joined(id(optimizer), track)
        return track

    def _gone(self, key: int, _reference: Any) -> None:
        self._loop.left(self._tracks.pop(key))

    # --- walks over tensors

    def _look_before(self, optimizer: Any, track: Track) -> None:
        self._registry.look()
        track.looking = True
        track.pace.start()
        # Not only autograd sets .grad: the reducers of a process group do too (FSDP shards, DDP buckets). The new gradient may lie where the old one
        # lay. So with a process group, or if the injector does not see autograd, all gradients are reported in every step.
        distributed = self._torch.distributed
        # A program that trains in half precision also sets .grad itself, on its own copies of the parameters, which are in no module.
        copies = bool(self._registry.parameters()) and any(self._registry.name_of(parameter) is None for _, parameter in _parameters(optimizer))
        track.pace.always = not self._gradients_are_seen or copies or (distributed.is_available() and distributed.is_initialized())
        track.others.start(everything_is_news=track.pace.always)
        with storage.untouched():
            for place, parameter in _parameters(optimizer):
                name = self._registry.name_of(parameter)
                if name is None:
                    track.others.tell(native.Role.PARAMETER, (place, "parameter"), parameter, place)
                if parameter.is_leaf and parameter.grad is not None:
                    track.others.tell(native.Role.GRADIENT, (place, "gradient"), parameter.grad, name or place, parameter)
        track.others.finish()
        track.pace.pause()

    def _look_after(self, optimizer: Any, track: Track) -> None:
        track.looking = False
        track.pace.start()
        state = optimizer.state
        track.signs = (id(state), len(state), len(optimizer.param_groups))
        places = {id(parameter): place for place, parameter in _parameters(optimizer)}
        # State that still moves (LBFGS creates its state anew in each step) may lie where other state lay before: all of it is reported.
        track.states.start(everything_is_news=track.pace.calm == 0)
        with storage.untouched():
            # A step may make a state tensor the parameter (p.data = state["old"]): then the block counts as the parameter.
            own = {address for _, parameter in _parameters(optimizer) for _, _, address, _ in storage.places(parameter)}
            for owner, kept in list(state.items()):
                name = self._owner_name(places, owner)
                for key, value in list((kept if isinstance(kept, dict) else {"state": kept}).items()):
                    for path, tensor in tensors_in(value, ""):
                        is_state = own.isdisjoint(address for _, _, address, _ in storage.places(tensor))
                        role, told_as = (native.Role.OPTIMIZER_STATE, f"{key} of {name}") if is_state else (native.Role.PARAMETER, name)
                        track.states.tell(role, (id(owner), key, path), tensor, told_as)
        track.states.finish()
        track.pace.finish(track.states.changed)

    def _owner_name(self, places: Dict[int, str], owner: Any) -> str:
        named = storage.is_tensor(owner) and (self._registry.name_of(owner) or places.get(id(owner), "a parameter of no group"))
        return named or str(owner)


def _parameters(optimizer: Any) -> Iterator[Tuple[str, Any]]:
    for number, group in enumerate(optimizer.param_groups):
        for position, parameter in enumerate(group["params"]):
            yield f"param_groups[{number}].params[{position}]", parameter
