# SPDX-License-Identifier: Apache-2.0
"""What a program reports through NVTX is in the trace, and another tool that listens sees what it would see without us.

The oracle is the program itself: it prints what NVTX returned, and a stand-in for another tool counts what reaches it.
"""
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Dict, List, Tuple

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "simulated_cuda")]

import device
import recorded_run
from recorded_run import RecordingTest, ask, clean_environment, python, run, target

NVTX = 8  # RangeKind
USER = 9  # MarkKind
NAMED = 8  # Role

TORCH = """
import threading, torch
def work():
    return torch.ones(1000)
torch.cuda.nvtx.range_push("outer")
level = torch.cuda.nvtx.range_push("step 1")
work()
print(level, torch.cuda.nvtx.range_pop(), torch.cuda.nvtx.range_pop())
started = torch.cuda.nvtx.range_start("across threads")
other = threading.Thread(target=torch.cuda.nvtx.range_end, args=(started,))
other.start()
other.join()
torch.cuda.nvtx.mark("a mark")
with torch.cuda.nvtx.range("number {}", 7):
    work()
"""


# Blocks of both pools, small and large segments, a segment that is freed, and some that stay.
BLOCKS = """
import json, torch
kept = [torch.empty(size, device="cuda") for size in (10, 1000, 300_000, 5_000_000)]
for size in (7, 70_000, 700_000, 30_000_000):
    gone = torch.empty(size, device="cuda")
del gone
torch.cuda.empty_cache()
kept.append(torch.empty(20_000_000, device="cuda"))
stats = torch.cuda.memory_stats()
print(json.dumps({key: stats[key] for key in ("allocation.all.allocated", "allocation.all.current", "allocated_bytes.all.current",
                                              "segment.all.allocated", "segment.all.freed")}), flush=True)
torch.cuda.nvtx.mark("now")
"""


class NvtxTest(RecordingTest):
    def environment(self, **changes: str) -> Dict[str, str]:
        environment = clean_environment(**changes)
        if not changes:
            environment.pop("NVTX_INJECTION64_PATH", None)
        return environment

    def with_tool(self, **changes: str) -> Dict[str, str]:
        return self.environment(NVTX_INJECTION64_PATH=target("libstand_in_nvtx_tool.so"),
                                STAND_IN_TOOL_OUTPUT=str(self.folder / "tool"), **changes)

    def seen_by_tool(self) -> Dict[str, str]:
        lines = (self.folder / "tool").read_text().splitlines()
        return dict(line.rsplit(": ", 1) for line in lines)

    def begins(self, trace: Path) -> Counter:
        return Counter(event.fields[1] for event in recorded_run.events(trace, "range_begin") if event.number(0) == NVTX)

    def marks(self, trace: Path) -> List[Tuple[str, int]]:
        return [(event.fields[2], event.number(1)) for event in recorded_run.events(trace, "mark") if event.number(0) == USER]

    def assert_balanced(self, trace: Path) -> None:
        """Every pushed range ends on its own thread, with its name. Every started range ends on any thread, with its id."""
        open_ranges: Counter = Counter()
        for event in recorded_run.events(trace, "range_begin", "range_end"):
            if event.number(0) != NVTX:
                continue
            started = event.number(2)
            key = ("id", started) if started else (event.thread, event.fields[1])
            open_ranges[key] += 1 if event.type == "range_begin" else -1
            self.assertGreaterEqual(open_ranges[key], 0, event)
        self.assertEqual([key for key, count in open_ranges.items() if count], [])

    def coverage(self, trace: Path) -> Dict[str, Tuple[str, str]]:
        return {event.fields[0]: (event.fields[1], event.fields[2]) for event in recorded_run.events(trace, "coverage")}


class Client(NvtxTest):
    """The program that is compiled against NVIDIA's headers."""

    expected_ranges = Counter(["outer", "inner_\u00e4", "payload_range", "started", "started_too", "across"] + ["MyDomain:registered"] * 2)

    def test_ranges_and_marks_are_in_the_trace(self) -> None:
        trace = self.folder / "run.vms"
        done = recorded_run.record(trace, [target("nvtx_client")], env=self.environment())
        self.assertEqual(done.stdout.decode().splitlines(), [
            "push 0 1 pop 1 0 -2", "started apart", "domain push 0 pop 0 default pop 0", "handles given"])
        self.assertEqual(self.begins(trace), self.expected_ranges)
        self.assert_balanced(trace)
        self.assertEqual(self.marks(trace), [
            ("payload_range", 2**64 - 7), ("payload_mark", 2**40), ("loss_=_0.125", 0), ("plain_mark", 0), ("wide_mark", 0),
            ("MyDomain:registered", 0)])
        self.assertEqual(self.coverage(trace)["NVTX"], ("2", "-"))
        info = ask("info", str(trace))["nvtx"]
        self.assertEqual({name.replace(" ", "_"): count for name, count in info["ranges_by_name"].items()}, self.expected_ranges)
        self.assertEqual(info["named_memory"], {"my heap": 3, "second piece": 1})

    def test_named_memory_is_in_the_trace(self) -> None:
        trace = self.recorded([target("nvtx_client")], env=self.environment())
        labels = [event for event in recorded_run.events(trace, "label") if event.number(2) == NAMED]
        base = labels[0].number(0)
        self.assertEqual([(event.number(0) - base, event.number(1), event.fields[4]) for event in labels], [
            (0, 65536, "my_heap"), (0, 256, "my_heap"), (1024, 512, "my_heap"), (1024, 0, "second_piece"), (0, 0, "-")])

    def test_another_tool_sees_and_answers_what_it_would_without_us(self) -> None:
        plain = run([target("nvtx_client")], env=self.with_tool())
        seen = self.seen_by_tool()
        self.assertEqual(seen["push"], "3")
        self.assertEqual(seen["errors"], "0")
        (self.folder / "tool").unlink()
        trace = self.folder / "run.vms"
        recorded = recorded_run.record(trace, [target("nvtx_client")], env=self.with_tool())
        # Calls to which the tool does not listen (wide strings, pops of domains) return our answers. NVTX alone would return -2, "nobody listens".
        answers = plain.stdout.decode().replace("push 100 -2", "push 100 1").replace("300 pop -2", "300 pop 0")
        self.assertEqual(recorded.stdout.decode(), answers)
        self.assertEqual(self.seen_by_tool(), seen)
        self.assertEqual(self.begins(trace), self.expected_ranges)
        self.assert_balanced(trace)
        self.assertIn("calls_through_to", self.coverage(trace)["NVTX"][1])
        labels = [event for event in recorded_run.events(trace, "label") if event.number(2) == NAMED]
        self.assertEqual([event.fields[4] for event in labels], ["my_heap"] * 3 + ["second_piece", "-"])

    def test_a_tool_that_fails_or_is_not_there_does_not_stop_us(self) -> None:
        trace = self.recorded([target("nvtx_client")], env=self.with_tool(STAND_IN_TOOL_FAILS="1"))
        self.assertEqual(self.begins(trace), self.expected_ranges)
        missing = self.environment(NVTX_INJECTION64_PATH="/no/such/tool.so")
        trace = self.recorded([target("nvtx_client")], env=missing)
        self.assertEqual(self.begins(trace), self.expected_ranges)
        self.assertIn("could_not_be_loaded", self.coverage(trace)["NVTX"][1])


class Torch(NvtxTest):
    """The NVTX that is compiled into a wheel of PyTorch."""

    def test_torch_cuda_nvtx(self) -> None:
        trace = self.folder / "run.vms"
        done = recorded_run.record(trace, [python(), "-c", TORCH], env=self.environment())
        if done.code != 0 or self.coverage(trace).get("NVTX") is None:
            self.skipTest(f"this PyTorch has no NVTX of its own: {done.stderr.decode()[-200:]}")
        self.assertEqual(done.stdout, b"1 1 0\n")
        begins = self.begins(trace)
        self.assertEqual({name: begins[name] for name in ("outer", "step_1", "across_threads", "number_7")},
                         {"outer": 1, "step_1": 1, "across_threads": 1, "number_7": 1})
        self.assertIn(("a_mark", 0), self.marks(trace))
        ranges = {held["name"]: held for held in ask("report", str(trace))["nvtx_ranges"]}
        self.assertEqual({name: ranges[name]["times"] for name in ("outer", "step 1", "number 7")}, {"outer": 1, "step 1": 1, "number 7": 1})
        # Each range allocates and frees a thousand floats; the outer range contains them all.
        self.assertGreaterEqual(ranges["step 1"]["peak_allocated_bytes"], 4000)
        self.assertGreaterEqual(ranges["outer"]["peak_allocated_bytes"], ranges["step 1"]["peak_allocated_bytes"])
        self.assertGreaterEqual(ranges["outer"]["total_ns"], ranges["step 1"]["total_ns"])
        self.assertEqual(ranges["number 7"]["most_growth_bytes"], 0)
        self.assertIn("NVTX ranges", run([recorded_run.vramscope(), "report", str(trace)]).stdout.decode())
        self.assert_balanced(trace)


class Emitted(NvtxTest):
    """PyTorch's memory, described to another tool. The oracle is the allocator's own statistics."""

    def test_segments_and_blocks_are_described_to_the_other_tool(self) -> None:
        on_device = device.environment(python(), "a100-40gb", NVTX_INJECTION64_PATH=target("libstand_in_nvtx_tool.so"),
                                       STAND_IN_TOOL_OUTPUT=str(self.folder / "tool"))
        trace = self.folder / "run.vms"
        done = recorded_run.record(trace, [python(), "-c", BLOCKS], ["--emit-nvtx-mem"], env=on_device)
        self.assertEqual(done.code, 0, done.stderr.decode())
        stats = json.loads(done.stdout)
        seen = {key: int(value) for key, value in self.seen_by_tool().items()}
        self.assertEqual(seen["errors"], 0, done.stderr.decode())
        self.assertEqual(seen["region"], stats["allocation.all.allocated"])
        self.assertEqual(seen["at mark: regions"], stats["allocation.all.current"])
        self.assertEqual(seen["at mark: bytes"], stats["allocated_bytes.all.current"])
        self.assertEqual(seen["heap"], stats["segment.all.allocated"])
        self.assertEqual(seen["at mark: heaps"], stats["segment.all.allocated"] - stats["segment.all.freed"])
        self.assertNotIn("region outside of heaps", seen)
        self.assertEqual(self.coverage(trace)["NVTX_memory_for_another_tool"], ("1", "segments_and_blocks"))


if __name__ == "__main__":
    recorded_run.main()
