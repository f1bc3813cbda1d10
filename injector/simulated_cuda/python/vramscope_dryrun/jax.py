# SPDX-License-Identifier: Apache-2.0
"""What a dry run changes in a JAX program: JAX looks for the device file of a GPU before it asks the driver. There is no such file here."""

import importlib
from typing import Any

from vramscope_core import guard, patches

HOOK = "dryrun.jax"


def install() -> None:
    hardware: Any = importlib.import_module("jax._src.hardware_utils")
    patches.wrap_method(hardware, "has_visible_nvidia_gpu", lambda original: guard.instead(HOOK, original, lambda _call: True))
