# SPDX-License-Identifier: Apache-2.0
"""Runs tests/truth/oracle.py so that a recorder can attach in the middle: after STEP it waits until it is being recorded.

    attached_oracle.py STEP <arguments of oracle.py>      prints "ready" when it waits
"""
import sys
import time
from pathlib import Path
from typing import Any, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "truth"))

import oracle

LIMIT_SECONDS = 300


def recorded() -> bool:
    shim = sys.modules.get("vramscope_shim.torch_hook")
    return shim is not None and shim._installed


def wait_after(step: int) -> None:
    """Waits where the program requests its next batch: there, torch is not in the middle of anything."""
    batches = oracle.Watch.batches

    def with_pause(watch: Any, given: Iterator[Any]) -> Iterator[Any]:
        for number, batch in enumerate(batches(watch, given)):
            if number == step:
                print("ready", flush=True)
                end = time.monotonic() + LIMIT_SECONDS
                while not recorded() and time.monotonic() < end:
                    bytearray(100_000)  # from malloc, not from Python's own pools
                    time.sleep(0.001)
            yield batch
            del batch

    oracle.Watch.batches = with_pause


if __name__ == "__main__":
    wait_after(int(sys.argv.pop(1)))
    oracle.main()
