# SPDX-License-Identifier: Apache-2.0
"""torch.compile and Triton: they make the same decisions as on a GPU, but produce no machine code.

1. Shared memory, scratch buffers and the launch are known once Triton has lowered a kernel to LLVM. ptxas,
   which would produce machine code, is skipped: the device never runs it. A GPT of 4 layers has 29 kernels,
   and ptxas would take 2.2 of the 7 s that Triton takes.
2. inductor computes constants on the device, reads them back and simplifies the graph with them ("x + 0 is
   x"). Here it does so on the CPU, where they have their values.

The caches of all this lie in the folder of the run (`vramscope dryrun` names it in the environment), so no GPU ever gets such code."""

import importlib
import sys
import sysconfig
from typing import Any, Callable

from vramscope_core import guard

HOOK = "dryrun.compiler"


def leave_out_ptxas() -> None:
    """make_cubin() of Triton 3, a method in some releases and a static function in others. The text is passed on, because the device measures code by
    it."""
    backend = sys.modules["triton.backends.nvidia.compiler"].CUDABackend
    backend.make_cubin = staticmethod(guard.instead(HOOK, backend.make_cubin,
                                                    lambda _, *args, **__: next(text for text in args if isinstance(text, str)).encode()))


def name_missing_compiler() -> None:
    """Triton builds its launcher with the C compiler. The compiler's own message is a page that hides which package is missing."""
    build = sys.modules["triton.runtime.build"]
    build._build = _explained(build._build)


def compute_constants_on_the_host() -> None:
    torch = sys.modules["torch"]
    folder = sys.modules["torch._inductor.fx_passes.joint_graph"].UniformValueConstantFolder
    on_the_host = _make_mode(torch)

    def run_on_the_host(call: guard.Call, *args: Any, **settings: Any) -> Any:
        with on_the_host():
            return call(*args, **settings)

    folder.run = guard.instead(HOOK, folder.run, run_on_the_host)


def _explained(build: Callable[..., Any]) -> Callable[..., Any]:
    def explain(call: guard.Call, *args: Any, **settings: Any) -> Any:
        try:
            return call(*args, **settings)
        except Exception as error:
            header = f"{sysconfig.get_paths()['include']}/Python.h"
            raise call.for_program(RuntimeError(
                f"Triton could not build its launcher. It needs a C compiler (gcc, or the one that CC names) and {header} (package python3-dev)."
            )) from error

    return guard.instead(HOOK, build, explain)


def _make_mode(torch: Any) -> Any:
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    tree = importlib.import_module("torch.utils._pytree")
    cpu = torch.device("cpu")

    def to_the_host(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_cuda:
            return value.cpu()
        return cpu if isinstance(value, torch.device) and value.type == "cuda" else value

    class OnTheHost(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            args, kwargs = tree.tree_map(to_the_host, (args, kwargs or {}))
            return function(*args, **kwargs)

    return OnTheHost
