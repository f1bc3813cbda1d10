# SPDX-License-Identifier: Apache-2.0
"""Rows about recordings of real training: driver rows, blocks, losses, and the ways into the driver."""
from typing import Callable, Dict

from machine import MIB, CannotRun, Machine, Outcome, mib

# The driver counts whole pages, and other processes of the machine come and go.
NEAR = 2 * MIB
# Streams, events and instantiated graphs are in no row. More than this without a row means that an allocation was missed.
UNATTRIBUTED = 64 * MIB


def allocator(machine: Machine, way: str) -> Outcome:
    """Compares PyTorch's rows with its own counters, to the byte, at every moment."""
    recording = machine.recording(way)
    wrong = []
    for note, moment in zip(recording.notes, machine.moments(recording)):
        rows = moment["driver"]
        if rows is None:
            return Outcome(False, f"{note['what']}: no call of the driver was recorded")
        held = rows["pytorch_allocated"] + rows["pytorch_cached"]
        if (rows["pytorch_allocated"], held) != (note["allocated"], note["reserved"]):
            wrong.append(f"{note['what']}: allocated {mib(rows['pytorch_allocated'])} for {mib(note['allocated'])}, "
                         f"reserved {mib(held)} for {mib(note['reserved'])}")
    return Outcome(not wrong, wrong[0] if wrong
                   else f"equal to the byte at {len(recording.notes)} moments, up to {mib(max(note['reserved'] for note in recording.notes))}")


def device(machine: Machine, way: str) -> Outcome:
    """Compares the sum of the rows with cudaMemGetInfo and NVML."""
    recording = machine.recording(way)
    worst, worst_nvml, unattributed, nvml_seen = 0, 0, 0, False
    for note, moment in zip(recording.notes, machine.moments(recording)):
        if moment["driver"] is None or moment["device_used_bytes"] is None:
            return Outcome(False, f"{note['what']}: the driver's figure was not recorded")
        used = sum(moment["driver"].values())
        worst = max(worst, used - note["used"], note["used"] - used)
        unattributed = max(unattributed, abs(moment["driver"]["unattributed"]), key=abs)
        if note["nvml_used"] is not None:
            nvml_seen = True
            worst_nvml = max(worst_nvml, abs(used - note["nvml_used"]))
    nvml = f"NVML {mib(worst_nvml)}" if nvml_seen else "NVML not there"
    passed = worst <= NEAR and unattributed <= UNATTRIBUTED and (not nvml_seen or worst_nvml <= NEAR)
    return Outcome(passed, f"off by at most: cudaMemGetInfo {mib(worst)}, {nvml}; unattributed {mib(unattributed)}")


def blocks(machine: Machine, way: str) -> Outcome:
    """Compares blocks, one by one, with the allocator's snapshot."""
    recording = machine.recording(way)
    compared = 0
    for note, moment in zip(recording.notes, machine.moments(recording, "--blocks")):
        ours = {(block["address"], block["bytes"]) for block in moment["blocks"]}
        theirs = {(address, size) for address, size in note["blocks"]}
        if ours != theirs:
            return Outcome(False, f"{note['what']}: {len(ours - theirs)} that the snapshot lacks, {len(theirs - ours)} that are missing, of {len(theirs)}")
        compared += len(theirs)
    return Outcome(True, f"{compared:,} blocks of {len(recording.notes)} moments, address and size")


def loss(machine: Machine, way: str) -> Outcome:
    """Compares the losses of the same training with and without the recorder."""
    recorded = [note["loss"] for note in machine.recording(way).notes if note["loss"] is not None]
    plain = [note["loss"] for note in machine.plain(way) if note["loss"] is not None]
    if len(recorded) != len(plain) or not recorded:
        return Outcome(False, f"{len(recorded)} steps recorded, {len(plain)} without")
    apart = max(abs(one - other) / max(abs(other), 1e-9) for one, other in zip(recorded, plain))
    # Kernels that add in arbitrary order give other results in each run, even without the recorder.
    return Outcome(apart <= 1e-2, "equal to the bit" if recorded == plain else f"apart by at most {apart:.1e} of the loss")


def whole(machine: Machine, way: str) -> Outcome:
    """Nothing lost, and the hooks of the driver in place."""
    info = machine.ask("info", str(machine.recording(way).trace))
    lookups = [hook for hook in info["coverage"] if "driver" in hook["hook"].lower()]
    missing = [hook["hook"] for hook in lookups if hook["state"] == "missing"]
    passed = info["dropped_events"] == 0 and info["driver"]["calls"] > 0 and not missing
    libraries = ", ".join(f"{name} {calls}" for name, calls in sorted(info["driver"]["allocations_by_library"].items()))
    return Outcome(passed, f"{info['events']:,} events, {info['dropped_events']} lost; calls that took memory: {libraries}")


def told_apart(machine: Machine, way: str, row: str, library: str) -> Outcome:
    """Memory that a library allocates itself is recorded under that library."""
    recording = machine.recording(way)
    calls = sum(calls for name, calls in machine.ask("info", str(recording.trace))["driver"]["allocations_by_library"].items() if name.startswith(library))
    most = max(moment["driver"][row] for moment in machine.moments(recording))
    return Outcome(calls > 0, f"{calls} calls of {library} took memory; its row has at most {mib(most)}")


def cupti(machine: Machine) -> Outcome:
    """Compares CUPTI's own count of the same run with the count of the hooks."""
    if machine.simulated:
        raise CannotRun("needs a real CUPTI")
    info = machine.ask("info", str(machine.recording("eager", "--cupti=on").trace))
    found = {hook["hook"]: hook["detail"] or hook["state"] for hook in info["coverage"] if hook["hook"].startswith("CUPTI")}
    compared = next((detail for hook, detail in found.items() if "hooks" in hook), None)
    if compared is None:
        return Outcome(False, "; ".join(f"{hook}: {detail}" for hook, detail in found.items()) or "CUPTI was not used")
    hooks = next((part for part in compared.split("; ") if part.startswith("hooks")), "")
    return Outcome(hooks.endswith(", +0 bytes"), compared)


PROFILED = """
import sys, torch
net = torch.nn.Linear(1024, 1024).cuda()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
    net(torch.randn(64, 1024, device="cuda")).sum().backward()
    torch.cuda.synchronize()
print(sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profile.events()))
"""


def profiler_beside(machine: Machine) -> Outcome:
    """torch.profiler sees as many kernels with the recorder as without it."""
    if machine.simulated:
        raise CannotRun("needs a real CUPTI")
    alone = int(machine.run([machine.python, "-c", PROFILED], 120))
    beside = int(machine.run([machine.vramscope, "record", "--quiet", "-o", str(machine.work / "profiled.vms"), "--", machine.python, "-c", PROFILED], 120))
    return Outcome(alone == beside and alone > 0, f"{beside} events of the GPU beside the recorder, {alone} without")


CHECKS: Dict[str, Callable[[Machine, str], Outcome]] = {
    "allocator": allocator, "device": device, "blocks": blocks, "loss": loss, "whole": whole,
}
TITLES = {
    "allocator": "rows of PyTorch = memory_allocated, memory_reserved", "device": "rows of the device = cudaMemGetInfo = NVML",
    "blocks": "blocks = _snapshot()", "loss": "loss with and without the recorder", "whole": "nothing lost, driver hooks in place",
}
WAYS = ("eager", "amp", "expandable", "graphs", "compile", "loader", "nccl")
LIBRARIES = (("nccl", "nccl", "libnccl"), ("eager", "cublas", "libcublas"))  # the way, the row, the file
