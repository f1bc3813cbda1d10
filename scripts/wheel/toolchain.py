# SPDX-License-Identifier: Apache-2.0
"""The programs that compile, link and strip the files of a wheel for one machine."""

import platform
from typing import List, NamedTuple


class Toolchain(NamedTuple):
    """Commands that make files for `machine`, on this machine or on another one."""

    machine: str
    zig: List[str]  # compiles C and links, against one version of glibc
    compiler: str  # g++ of Debian, whose C++ library the programs have
    strip: str


def toolchain(machine: str, zig: str, glibc: str) -> Toolchain:
    """machine: "x86_64", "aarch64"; zig: its program; glibc: "2.28"."""
    prefix = "" if machine == platform.machine() else f"{machine}-linux-gnu-"
    return Toolchain(machine, [zig, "cc", "-target", f"{machine}-linux-gnu.{glibc}"], f"{prefix}g++", f"{prefix}strip")
