# SPDX-License-Identifier: Apache-2.0
"""Every number that appears in more than one output is the same in all: terminal, JSON, HTML, viewer, CSV, SQLite, Perfetto, Chrome, speedscope,
collapsed stacks, pprof. Tested on three recorded runs and, if they are next to the checkout, two snapshots of real trainings. SQLite and Python read
the databases and tables, and add up figures from their rows."""
import csv
import json
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import drawn
import recorded_run
import shown as seen
import wire
from recorded_run import SAMPLES, SOURCE, RecordingTest, python

SNAPSHOTS = SOURCE.parent / "shared/data/snapshots"

# Five steps. In the fourth step, a request fails that is too large for any GPU.
FAILING = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(5):
    model(torch.randn(32, 64, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 3:
        try:
            torch.empty(1 << 40, device="cuda")
        except torch.OutOfMemoryError:
            pass
"""


def shown(count: int) -> str:
    """Bytes as the terminal shows them."""
    value, unit = float(count), 0
    while unit < 4 and value >= (1024 if unit == 0 else 1023.95):
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[unit - 1]}"


@drawn.share(2)
class Exports(RecordingTest):
    def convert(self, source: Path, ending: str, *options: str) -> Path:
        out = self.folder / f"out{len(list(self.folder.iterdir()))}{ending}"
        done = recorded_run.run([recorded_run.vramscope(), "convert", str(source), str(out), *options])
        self.assertEqual((done.code, done.stderr), (0, b""))
        return out

    def rows(self, source: Path, table: str) -> List[Dict[str, str]]:
        with self.convert(source, ".csv", "--table", table).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def check(self, source: Path) -> Dict[str, Any]:
        answer = recorded_run.ask("report", str(source), "--top", "0", "--at", "peak", "--blocks")
        answer["unseen"] = answer["peak"]["allocated_bytes"] - sum(block["bytes"] for block in answer["moments"][0]["blocks"])
        answer["chosen"] = next(device for device in answer["devices"] if device["chosen"])
        self.check_terminal(source, answer)
        self.check_page(source, answer)
        self.check_viewer(source, answer)
        self.check_csv(source, answer)
        self.check_sqlite(source, answer)
        self.check_timelines(source, answer)
        self.check_stacks(source, answer)
        return answer

    def check_terminal(self, source: Path, answer: Dict[str, Any]) -> None:
        done = recorded_run.run([recorded_run.vramscope(), "report", str(source), "--top", "3"])
        text = done.stdout.decode()
        peak = answer["peak"]
        self.assertTrue(text.startswith(f"Peak {shown(peak['allocated_bytes'])} at "), text[:80])
        if peak["step"] is not None:
            self.assertIn(f" at step {peak['step']}, {peak['phase']}: " if peak["phase"] != "other" else f" at step {peak['step']}: ", text.splitlines()[0])
        if peak["reserved_bytes"] is not None:
            self.assertIn(f"{shown(peak['reserved_bytes'])} reserved", text.splitlines()[1])
        for category, count in peak["categories"].items():
            if count:
                self.assertRegex(text, rf"(?mi)^ *{category.replace('_', '[, ]+')}[^\n]* {re.escape(shown(count))} ")
        for step in answer["steps"]:
            if len(answer["steps"]) <= 6:
                self.assertRegex(text, rf"(?m)^ +{step['step']}  +{re.escape(shown(step['peak']['allocated_bytes']))}  .*"
                                       rf"{re.escape(shown(step['end_allocated_bytes']))}  +{step['allocations']:,}  ")
        for kind in ("module_pattern", "op", "stack"):
            for owner in [owner for owner in answer["owners"] if owner["kind"] == kind][:3]:
                self.assertRegex(text, rf"(?m)^  \S.* {re.escape(shown(owner['bytes']))}  +[\d.<]", owner["name"])
        for oom in answer["out_of_memory"]:
            self.assertIn(f"{shown(oom['requested_bytes'])} were requested", text)
        self.assertRegex(text, rf"(?m)^{answer['events']:,} events? of {len(answer['processes'])} process")

    def check_page(self, source: Path, answer: Dict[str, Any]) -> None:
        page = self.folder / "page.html"
        page.unlink(missing_ok=True)
        done = recorded_run.run([recorded_run.vramscope(), "report", str(source), "--html", str(page)])
        self.assertEqual((done.code, done.stderr), (0, b""))
        report, picture = seen.embedded(page)
        printed = recorded_run.ask("report", str(source))
        self.assertEqual(picture["left_out"], {})
        self.assertEqual(dict(seen.numbers(report)), dict(seen.numbers(printed)))
        for key in ("peak", "steps", "devices", "processes", "owned_bytes", "out_of_memory"):
            self.assertEqual(dict(seen.numbers(report[key])), dict(seen.numbers(answer[key])), key)
        time_ns, categories = seen.columns_at_peak(picture)
        self.assertEqual(time_ns, answer["peak"]["time_ns"])
        self.assertEqual(categories, {key: answer["peak"]["categories"][key] for key in categories})
        self.assertEqual(sum(categories.values()), answer["peak"]["allocated_bytes"])
        for tree in ("modules", "ops", "stacks"):
            if picture["owners"].get(tree):
                self.assertEqual(picture["owners"][tree][1], answer["peak"]["allocated_bytes"], tree)
        if "fragmentation" in picture:
            there = picture["fragmentation"]
            frag = recorded_run.ask("frag", str(source), "--at", f"event:{answer['peak']['trace_event']}")["moments"][0]
            for key in ("time_ns", "reserved_bytes", "allocated_bytes", "requested_bytes", "free_bytes", "largest_free_bytes", "decomposition", "metrics"):
                self.assertEqual(there[key], frag[key], key)
            if source.suffix == ".vms":  # a snapshot's blocks and segments need not agree (docs/snapshots.md)
                self.assertEqual((there["allocated_bytes"], there["reserved_bytes"]), (answer["peak"]["allocated_bytes"], answer["peak"]["reserved_bytes"]))

    def check_viewer(self, source: Path, answer: Dict[str, Any]) -> None:
        if seen.viewer() is None:
            return
        moments = [answer["peak"], *[step["peak"] for step in answer["steps"][:6]]]
        states = seen.viewer_states(source, self.folder, ["peak", *[f"step:{step['step']},peak" for step in answer["steps"][:6]]])
        self.assertIn(answer["selection"]["device"], states[0]["device"])
        self.assertEqual(states[0]["live_bytes"] + answer["unseen"], answer["peak"]["allocated_bytes"])
        self.assertEqual(states[0]["live_rows"], len(answer["moments"][0]["blocks"]))
        for state, moment in zip(states, moments):
            for key in ("allocated_bytes", "reserved_bytes", "device_used_bytes", "categories"):
                self.assertEqual(state[key], moment[key], key)
            self.assertEqual(state["moment_ns"], moment["time_ns"])
            where = "outside of all steps" if moment["step"] is None else f"step {moment['step']}"
            self.assertEqual(state["moment_text"], where if moment["phase"] == "other" else f"{where}, {moment['phase']}")

    def check_csv(self, source: Path, answer: Dict[str, Any]) -> None:
        device, pid = answer["selection"]["device"], str(answer["selection"]["process"])
        series = [row for row in self.rows(source, "series") if (row["device"], row["process"]) == (device, pid)]
        peak = max(series, key=lambda row: int(row["allocated_bytes"]))  # the first of several
        self.assertEqual(int(peak["allocated_bytes"]), answer["peak"]["allocated_bytes"])
        self.assertEqual({key: int(peak[key]) for key in answer["peak"]["categories"]}, answer["peak"]["categories"])
        self.assertEqual((int(peak["time_ns"]), peak["phase"]), (answer["peak"]["time_ns"], answer["peak"]["phase"]))
        reserved = [int(row["reserved_bytes"]) for row in series if row["reserved_bytes"]]
        self.assertEqual(max(reserved, default=None), answer["chosen"]["peak_reserved_bytes"])
        self.assertEqual(int(series[-1]["allocated_bytes"]), answer["chosen"]["end_allocated_bytes"])

        blocks = [row for row in self.rows(source, "blocks") if (row["device"], row["process"]) == (device, pid)]
        self.assertEqual(len(blocks), answer["chosen"]["allocations"])
        at_peak: Counter = Counter()
        for row in blocks:
            at_peak[row["peak_category"]] += int(row["bytes"])
        at_peak["unattributed"] += answer["unseen"]
        self.assertEqual({key: at_peak[key] for key in answer["peak"]["categories"]}, answer["peak"]["categories"])
        by_number = {int(row["block"]): row for row in blocks}
        for block in answer["moments"][0]["blocks"]:
            row = by_number[block["number"]]
            self.assertEqual((int(row["bytes"]), int(row["address"]), row["peak_category"]), (block["bytes"], block["address"], block["category"]))

        self.assertEqual(len(self.rows(source, "events")), answer["events"])
        steps = self.rows(source, "steps")
        self.assertEqual(len(steps), len(answer["steps"]))
        before = 0  # what was there when a step begins counts for it
        peaks: Dict[str, int] = {}
        for row in series:
            peaks[row["step"]] = max(peaks.get(row["step"], before), int(row["allocated_bytes"]))
            before = int(row["allocated_bytes"])
        for row, step in zip(steps, answer["steps"]):
            for key in ("step", "begin_ns", "end_ns", "end_allocated_bytes", "allocations", "handed_out_bytes"):
                self.assertEqual(int(row[key]), step[key], key)
            self.assertEqual(int(row["peak_allocated_bytes"]), step["peak"]["allocated_bytes"])
            self.assertEqual(peaks[row["step"]], step["peak"]["allocated_bytes"])
            born = [int(block["bytes"]) for block in blocks if block["step"] == row["step"]]
            self.assertEqual((len(born), sum(born)), (step["allocations"], step["handed_out_bytes"]))

    def check_sqlite(self, source: Path, answer: Dict[str, Any]) -> None:
        database = sqlite3.connect(self.convert(source, ".sqlite"))
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        run = dict(database.execute("SELECT key, value FROM run"))
        for key in ("events", "dropped_events", "duration_ns"):
            self.assertEqual(run[key], answer[key], key)
        for key in ("allocated_bytes", "reserved_bytes", "device_used_bytes", "time_ns", "step", "phase"):
            self.assertEqual(run["peak_" + key], answer["peak"][key], key)
        live = database.execute("SELECT peak_category, sum(bytes) FROM live_at_peak GROUP BY 1").fetchall()
        self.assertEqual(sum(count for _, count in live) + answer["unseen"], answer["peak"]["allocated_bytes"])
        peak = database.execute("SELECT c.key, x.bytes "
                                "FROM device_categories x JOIN categories c USING (category) JOIN devices d USING (device) WHERE d.chosen")
        self.assertEqual(dict(peak), {key: count for key, count in answer["peak"]["categories"].items() if count})
        devices = database.execute("SELECT pid, name, allocations, peak_allocated_bytes, peak_reserved_bytes, peak_device_used_bytes, "
                                   "end_allocated_bytes FROM devices")
        self.assertEqual(list(devices), [(device["process"], device["device"], device["allocations"], device["peak"]["allocated_bytes"],
                                          device["peak_reserved_bytes"], device["peak_device_used_bytes"], device["end_allocated_bytes"])
                                         for device in answer["devices"]])
        highest = database.execute("SELECT max(s.allocated_bytes), d.peak_allocated_bytes FROM series s JOIN devices d USING (device) GROUP BY device")
        for ours, theirs in highest:
            self.assertEqual(ours, theirs)
        steps = database.execute("SELECT step, begin_ns, end_ns, peak_allocated_bytes, end_allocated_bytes, allocations, "
                                 "handed_out_bytes FROM steps").fetchall()
        self.assertEqual(steps, [(step["step"], step["begin_ns"], step["end_ns"], step["peak"]["allocated_bytes"], step["end_allocated_bytes"],
                                  step["allocations"], step["handed_out_bytes"]) for step in answer["steps"]])
        owners = Counter(database.execute("SELECT kind, name, blocks, bytes FROM owners").fetchall())
        self.assertEqual(owners, Counter((owner["kind"], owner["name"], owner["blocks"], owner["bytes"]) for owner in answer["owners"]))
        processes = database.execute("SELECT pid, events, steps, peak_allocated_bytes FROM processes").fetchall()
        self.assertEqual(processes, [(process["pid"], process["events"], process["steps"], process["peak_allocated_bytes"]) for process in answer["processes"]])
        failed = database.execute("SELECT time_ns, requested_bytes FROM out_of_memory").fetchall()
        self.assertEqual(failed, [(oom["time_ns"], oom["requested_bytes"]) for oom in answer["out_of_memory"]])
        self.check_queries(database)
        database.close()

    def check_queries(self, database: sqlite3.Connection) -> None:
        """The queries of the documentation run, and there are enough of them."""
        queries = re.findall(r"```sql\n(.*?)```", (SOURCE / "docs/exports.md").read_text(encoding="utf-8"), re.DOTALL)
        self.assertGreaterEqual(len(queries), 5)
        for query in queries:
            database.execute(query).fetchall()

    def check_timelines(self, source: Path, answer: Dict[str, Any]) -> None:
        device = answer["selection"]["device"]
        trace = self.convert(source, ".perfetto-trace")
        events = wire.perfetto(trace)
        try:
            self.assertEqual(wire.published(trace), [(event.time_ns, event.type, event.value) for event in events])
        except ImportError:
            pass  # the second reader is not installed
        counters: Dict[str, int] = Counter()
        for event in events:
            if event.type == 4:
                counters[event.track] = max(counters[event.track], event.value)
        only = [other for other in answer["devices"] if other["device"] == device]
        if len(only) == 1:  # tracks of processes have the same names
            self.assertEqual(counters[f"{device} allocated"], answer["peak"]["allocated_bytes"])
            self.assertEqual(counters[f"{device} reserved"], answer["chosen"]["peak_reserved_bytes"] or 0)
            self.assertEqual(self.perfetto_at_peak(events, device, answer), answer["peak"]["categories"])
        slices = [(event.time_ns, event.name) for event in events if event.track == "steps" and event.type == 1]
        steps = sum(process["steps"] for process in answer["processes"])
        self.assertEqual(len(slices), steps)
        self.assertLessEqual({(step["begin_ns"], f"step {step['step']}") for step in answer["steps"]}, set(slices))
        failed = [(event.time_ns, event.requested) for event in events if event.type == 3]
        self.assertEqual(failed, [(oom["time_ns"], oom["requested_bytes"]) for oom in answer["out_of_memory"]])

        chrome = json.loads(self.convert(source, ".json").read_text(encoding="utf-8"))["traceEvents"]
        stacked = [sum(event["args"].values()) for event in chrome if event["ph"] == "C" and event["name"] == f"{device} allocated"
                   and event["pid"] == answer["selection"]["process"]]
        self.assertEqual(max(stacked), answer["peak"]["allocated_bytes"])
        self.assertEqual(sum(event["ph"] == "B" for event in chrome), sum(event["ph"] == "E" for event in chrome))
        self.assertEqual(len([event for event in chrome if event["ph"] == "i"]), len(answer["out_of_memory"]))

    def perfetto_at_peak(self, events: List[wire.Event], device: str, answer: Dict[str, Any]) -> Dict[str, int]:
        """The counters when a packet first reports the peak, including later packets of the same event."""
        now: Dict[str, int] = Counter()
        reached = None
        for event in events:
            if event.type != 4 or not event.track.startswith(device + " "):
                continue
            figure = event.track[len(device) + 1:]
            if reached is not None and (figure == "allocated" or event.time_ns != reached):
                break
            now[figure] = event.value
            if figure == "allocated" and event.value == answer["peak"]["allocated_bytes"]:
                reached = event.time_ns
        return {key: now[key] for key in answer["peak"]["categories"]}

    def check_stacks(self, source: Path, answer: Dict[str, Any]) -> None:
        whole = answer["peak"]["allocated_bytes"]
        by_category: Counter = Counter()
        for line in self.convert(source, ".collapsed").read_text(encoding="utf-8").splitlines():
            frames, _, count = line.rpartition(" ")
            by_category[frames.split(";")[-1]] += int(count)
        self.assertEqual({key: by_category[key] for key in answer["peak"]["categories"]}, answer["peak"]["categories"])
        speedscope = json.loads(self.convert(source, ".speedscope.json").read_text(encoding="utf-8"))
        profile = speedscope["profiles"][0]
        self.assertEqual((profile["endValue"], sum(profile["weights"]), len(profile["weights"])), (whole, whole, len(profile["samples"])))
        self.assertLess(max(max(sample) for sample in profile["samples"]), len(speedscope["shared"]["frames"]))
        self.assertEqual(wire.pprof_bytes(self.convert(source, ".pb.gz")), whole)

    def test_a_training(self) -> None:
        command = [python(), str(SAMPLES / "gpt.py"), "--device", "cuda", "--layers", "1", "--dim", "32", "--batch", "2", "--steps", "3"]
        answer = self.check(self.recorded(command, env=simulated_device.environment(python())))
        self.assertEqual(len(answer["steps"]), 3)

    def test_a_training_on_the_cpu_with_a_worker(self) -> None:
        command = [python(), str(SAMPLES / "gpt.py"), "--device", "cpu", "--layers", "1", "--dim", "32", "--batch", "2", "--steps", "3", "--workers", "1",
                   "--optimizer", "sgd"]
        answer = self.check(self.recorded(command))
        self.assertGreater(len(answer["processes"]), 1)

    def test_a_training_that_runs_out_of_memory(self) -> None:
        answer = self.check(self.recorded([python(), "-c", FAILING], ["--stacks", "python"], env=simulated_device.environment(python())))
        self.assertEqual([oom["requested_bytes"] for oom in answer["out_of_memory"]], [1 << 42])

    def test_snapshots_of_real_trainings(self) -> None:
        names = ("medium_ctx128_training.pickle", "small_from_empty.pickle")
        there = [SNAPSHOTS / name for name in names if (SNAPSHOTS / name).exists()]
        if not there:
            self.skipTest("no real snapshots beside this checkout")
        for snapshot in there:
            with self.subTest(snapshot.name):
                self.check(snapshot)

    def test_what_cannot_be_written_is_refused_by_name(self) -> None:
        for arguments, word in ((("run.vms", "run.docx"), "run.docx"), (("run.vms", "x.csv", "--table", "love"), "--table"),
                                (("run.vms", "x.db", "--table", "blocks"), "--table"), (("run.vms", "x", "--to", "love"), "love")):
            done = recorded_run.run([recorded_run.vramscope(), "convert", *arguments], cwd=self.folder)
            self.assertEqual(done.code, 2)
            self.assertIn(word.encode(), done.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    recorded_run.main()
