# SPDX-License-Identifier: Apache-2.0
"""Eight ranks, seven with a fault planted by make_job: `vramscope fleet` names each with its rank and cause, from traces and from PyTorch snapshots.

No recording and no torch: what a recorder writes is tested elsewhere, and the traces of make_job have the facts that matter here."""
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run  # noqa: E402

MIB = 1 << 20


def make_job(folder: Path, ranks: int, steps: int) -> None:
    folder.mkdir()
    done = recorded_run.run([recorded_run.target("make_job"), str(folder), str(ranks), str(steps)])
    assert done.code == 0, done.stderr


def write_snapshot(path: Path, own: int, guest_of: Optional[int] = None, fails: bool = False) -> None:
    """Writes a snapshot like PyTorch's: a process with a block on its own device, perhaps one on another device, perhaps a failed request."""
    def segment(device: int, size: int) -> Dict[str, Any]:
        block = {"address": 1 << 40, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}
        return {"device": device, "address": 1 << 40, "total_size": size, "allocated_size": size, "active_size": size, "requested_size": size, "stream": 0,
                "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": [block]}

    traces: List[List[Dict[str, Any]]] = [[] for _ in range(own + 1)]
    for device, size in [(own, 100 * MIB)] + ([] if guest_of is None else [(guest_of, 2 * MIB)]):
        traces[device] = [{"action": action, "addr": 1 << 40, "size": size, "stream": 0, "time_us": time_us, "frames": []}
                          for time_us, action in enumerate(("segment_alloc", "alloc"), start=1)]
    annotations = []
    for step in range(1, 5):  # of the training thread; another one waits on device 0 all the time
        traces[own] += [{"action": action, "addr": 1 << 41, "size": 10 * MIB, "stream": 0, "time_us": 10 * step + time_us, "frames": []}
                        for time_us, action in enumerate(("alloc", "free_requested", "free_completed"))]
        for device, name, begin in ((0, "gloo:barrier", 4), (0, "gloo:barrier", 5), (0, "gloo:barrier", 6), (own, "Optimizer.step#AdamW.step", 7)):
            annotations += [{"stage": stage, "name": name, "device": device, "time_us": 10 * step + time_us}
                            for time_us, stage in enumerate(("START", "END"), start=begin)]
    if fails:
        traces[own].append({"action": "oom", "addr": 5 * MIB, "size": 512 * MIB, "stream": 0, "time_us": 60, "frames": []})
    segments = [segment(own, 100 * MIB)] + ([] if guest_of is None else [segment(guest_of, 2 * MIB)])
    path.write_bytes(pickle.dumps({"segments": segments, "device_traces": traces, "allocator_settings": {}, "external_annotations": annotations}))


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def by_kind(answer: Any) -> Dict[str, List[Any]]:
    kinds: Dict[str, List[Any]] = {}
    for finding in answer["findings"]:
        kinds.setdefault(finding["kind"], []).append(finding)
    return kinds


def kernel_keeps_exit_statuses() -> bool:
    """True from Linux 6.15 on."""
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 15)


class FleetTest(recorded_run.RecordingTest):
    def fleet(self, *words: str, code: int = 0) -> recorded_run.Finished:
        done = recorded_run.run([recorded_run.vramscope(), "fleet", *words])
        self.assertEqual(done.code, code, done.stderr)
        return done

    def test_each_planted_fault_has_its_rank_and_cause(self) -> None:
        job = self.folder / "job"
        make_job(job, 8, 10)
        answer = recorded_run.ask("fleet", str(job))
        kinds = by_kind(answer)
        self.assertEqual({kind: [finding["ranks"] for finding in found] for kind, found in kinds.items()},
                         {"out_of_memory": [[6]], "dead": [[7]], "memory": [[1]], "fragmentation": [[5]], "elsewhere": [[3]], "growth": [[2]], "late": [[4]]})
        memory = kinds["memory"][0]
        place = (memory["category"], memory["module"], memory["line"], memory["since_step"])
        self.assertEqual(place, ("activation", "layers.*.attn", "forward (model.py:88)", 5))
        self.assertIn("Input of a step", memory["cause"])
        self.assertEqual(kinds["growth"][0]["bytes"], 4 * MIB)
        self.assertIn("train.py:42", kinds["growth"][0]["line"])
        self.assertEqual(answer["first_out"]["rank"], 2)

        text = self.fleet(str(job)).stdout.decode()
        self.assertIn("rank 1 peaks", text)
        self.assertIn("8 ranks: peaks", text)
        self.fleet(str(job), "--spread-below", "5%", "--quiet", code=1)
        self.fleet(str(job), "--spread-below", "50%", "--quiet")
        page = self.folder / "job.html"
        self.fleet(str(job), "--html", str(page))
        self.assertIn('"heat"', page.read_text())

        # A snapshot contains neither the process nor its end. All else is still found, also if traces and snapshots are mixed.
        for rank in range(8):
            done = recorded_run.run([recorded_run.vramscope(), "convert", str(job / f"rank{rank}.vms"), str(job / f"rank{rank}.pickle")])
            self.assertEqual(done.code, 0, done.stderr)
            if rank != 4:
                (job / f"rank{rank}.vms").unlink()
        mixed = recorded_run.ask("fleet", str(job), str(job / "rank0.pickle"))
        self.assertEqual(len(mixed["ranks"]), 9, "rank 4 is there twice")
        self.assertIn("Rank 4 appears more than once", " ".join(mixed["notes"]))
        (job / "rank4.vms").unlink()
        snapshots = by_kind(recorded_run.ask("fleet", str(job)))
        self.assertEqual([finding["ranks"] for finding in snapshots["memory"]], [[1]])

    def test_a_snapshot_of_two_devices_is_one_rank(self) -> None:
        job = self.folder / "job"
        job.mkdir()
        write_snapshot(job / "rank0.pickle", 0)
        write_snapshot(job / "rank1.pickle", 1, guest_of=0)
        write_snapshot(job / "rank2.pickle", 2, fails=True)
        answer = recorded_run.ask("fleet", str(job))
        self.assertEqual([(rank["rank"], rank["device"]) for rank in answer["ranks"]], [(0, "cuda:0"), (1, "cuda:1"), (2, "cuda:2")])
        self.assertEqual([len(rank["steps"]) for rank in answer["ranks"]], [4, 4, 4])
        kinds = by_kind(answer)
        self.assertEqual({kind: [finding["ranks"] for finding in found] for kind, found in kinds.items()}, {"out_of_memory": [[2]], "elsewhere": [[1]]})
        self.assertIn("512.0 MiB on cuda:2 failed", kinds["out_of_memory"][0]["text"])
        self.assertEqual(kinds["elsewhere"][0]["bytes"], 2 * MIB)

    def test_top_shows_ranks_as_they_are_now(self) -> None:
        job = self.folder / "job"
        make_job(job, 8, 10)
        done = recorded_run.run([recorded_run.vramscope(), "top", str(job), "--once"])
        self.assertEqual(done.code, 0, done.stderr)
        lines = {line.split()[0]: line for line in done.stdout.decode().splitlines() if line.strip()}
        self.assertIn("8 ranks, step 10, 1.00 s a step", done.stdout.decode())
        for rank, state in (("1", "finished"), ("6", "out of memory"), ("7", "killed")):
            self.assertTrue(lines[rank].endswith(state), lines[rank])
        self.assertIn("+4.0 MiB", lines["2"])
        for wrong in ((), ("1",), (str(self.folder / "none"),), (str(job), "--interval", "0")):
            self.assertEqual(recorded_run.run([recorded_run.vramscope(), "top", *wrong]).code, 2, wrong)

    def test_a_recorder_leaves_a_summary_that_stands_for_its_trace(self) -> None:
        """The target is a child of `timeout`, which the recorder started, and is killed: the kernel reports how it ended."""
        job = self.folder / "job"
        job.mkdir()
        counters = self.folder / "counters"
        counters.write_bytes(bytes(16))
        target = ["timeout", "600", recorded_run.target("counting_target"), str(counters), "1", "1000000"]
        environment = recorded_run.clean_environment(RANK="0", WORLD_SIZE="2")
        with subprocess.Popen(recorded_run.record_command(job / "%r.vms", target), env=environment, stdin=subprocess.DEVNULL) as recorder:
            picture = ""
            while "running" not in picture and recorder.poll() is None:  # recorders write every five seconds
                picture = recorded_run.run([recorded_run.vramscope(), "top", str(recorder.pid), "--once"]).stdout.decode()
                time.sleep(0.2)
            metrics = recorded_run.run([recorded_run.vramscope(), "top", str(recorder.pid), "--once", "--format", "prometheus"]).stdout.decode()
            os.kill(child_of(child_of(recorder.pid)), signal.SIGKILL)
        self.assertRegex(picture, r"(?m)^ +0 +cpu .* running$")
        self.assertIn('vramscope_findings{kind="dead"} 0\n', metrics, "a rank that runs is not dead")
        trace, summary = job / "0.vms", job / "0.vms.summary"
        whole = recorded_run.ask("fleet", str(trace))
        ends = [(0, "killed", "killed by signal 9 (Killed)")]
        if not kernel_keeps_exit_statuses():  # then `timeout` may have waited for its child before the recorder looked
            ends.append((0, "unknown", None))
        self.assertEqual(len(whole["ranks"]), 1)
        self.assertIn(tuple(whole["ranks"][0][key] for key in ("rank", "ending", "failed")), ends)
        self.assertEqual(whole["missing"], [1])
        with open(summary, "r+") as file:  # a summary with another device, to see which of the two is read
            text = file.read().replace('"device":"cpu"', '"device":"from-summary"')
            file.seek(0)
            file.write(text)
            file.truncate()
        self.assertEqual(recorded_run.ask("fleet", str(job))["ranks"][0]["device"], "from-summary")
        with open(trace, "ab") as file:
            file.write(b"more")
        self.assertEqual(recorded_run.ask("fleet", str(job))["ranks"][0]["device"], "cpu", "the summary is of another trace")
        trace.unlink()
        self.assertEqual(recorded_run.ask("fleet", str(job))["ranks"][0]["device"], "from-summary", "it is all there is")

    def test_the_files_of_a_job_are_one_subject(self) -> None:
        job = self.folder / "a job"
        make_job(job, 4, 6)
        third = recorded_run.ask("report", str(job / "rank3.vms"))
        self.assertEqual(recorded_run.ask("report", str(job), "--rank", "3"), third)
        self.assertEqual(recorded_run.ask("report", *[str(job / f"rank{rank}.vms") for rank in range(4)], "--rank", "2..3")["ranks"][1], third)
        worst = recorded_run.run([recorded_run.vramscope(), "report", str(job)])
        self.assertIn(b"This answer is about rank 1 on node-0, ", worst.stderr, "the rank with the long batch is the fullest")
        checked = recorded_run.run([recorded_run.vramscope(), "check", str(job), "--peak-below", "2.7GiB", "--json"])
        self.assertEqual((checked.code, len(json.loads(checked.stdout)["ranks"])), (1, 4))
        for wrong, sentence in ((["--rank", "9"], b"has ranks 0 to 3"), (["--rank", "all", "--html", "x.html"], b"one file holds one rank")):
            done = recorded_run.run([recorded_run.vramscope(), "report", str(job), *wrong])
            self.assertEqual(done.code, 2)
            self.assertIn(sentence, done.stderr)

    def test_metrics_are_served_and_printed(self) -> None:
        job = self.folder / "job"
        make_job(job, 8, 10)
        with subprocess.Popen([recorded_run.vramscope(), "top", str(job), "--prometheus", "0"], stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            address = server.stdout.readline().decode().strip()
            with urllib.request.urlopen(address) as answer:
                self.assertTrue(answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
                metrics = answer.read().decode()
            with urllib.request.urlopen(address.replace("/metrics", "/otlp")) as answer:
                otlp = json.load(answer)
            server.terminate()
        self.assertRegex(metrics, r'(?m)^vramscope_growth_bytes_per_step\{rank="2",host="node-0",device="cuda:2"\} 4194304$')
        failed = dict(re.findall(r'(?m)^vramscope_rank_failed\{rank="(\d)",.*\} ([01])$', metrics))
        self.assertEqual(failed, {str(rank): str(int(rank in (6, 7))) for rank in range(8)}, "one ran out of memory, one was killed")
        self.assertIn('vramscope_findings{kind="late"} 1\n', metrics)
        printed = recorded_run.run([recorded_run.vramscope(), "top", str(job), "--once", "--format", "prometheus"])
        self.assertEqual(printed.stdout.decode(), metrics)
        names = {metric["name"] for metric in otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
        self.assertEqual(names, set(re.findall(r"(?m)^# TYPE (\w+)", metrics)))

    def test_an_order_to_the_job_reaches_every_black_box(self) -> None:
        job = self.folder / "job"
        job.mkdir()
        counters = self.folder / "counters"
        counters.write_bytes(bytes(32))
        recorders = []
        for rank in range(2):
            target = [recorded_run.target("counting_target"), str(counters), "1", "100000000"]
            command = recorded_run.record_command(job / "%r.vms", target, ["--black-box", "2"])
            recorders.append(subprocess.Popen(command, env=recorded_run.clean_environment(RANK=str(rank), WORLD_SIZE="2"), stdin=subprocess.DEVNULL))
        try:
            written = {job / "0.vms", job / "1.vms"}
            deadline = time.monotonic() + 120
            while {path for path in written if path.exists()} != written and time.monotonic() < deadline:
                self.fleet("dump", str(job))
                time.sleep(1)
            self.assertEqual({path for path in written if path.exists()}, written)
        finally:
            for recorder in recorders:
                recorder.terminate()
                recorder.wait()
        self.assertEqual([rank["rank"] for rank in recorded_run.ask("fleet", str(job / "0.vms"), str(job / "1.vms"))["ranks"]], [0, 1])
        self.assertIn(b"is not a folder", self.fleet("dump", str(job / "0.vms"), code=2).stderr)
        self.assertIn(b"--step works only with fleet dump", self.fleet("start", str(job), "--step", "3", code=2).stderr)

    def test_mpi_gives_the_answer_of_one_process(self) -> None:
        if shutil.which("mpirun") is None or not Path(recorded_run.vramscope()).with_name("vramscope-fleet-mpi").exists():
            self.skipTest("no MPI when this was built")
        job = self.folder / "job"
        make_job(job, 8, 10)
        (job / "broken.vms").write_bytes((job / "rank0.vms").read_bytes()[:100])
        alone = self.fleet(str(job), "--json")
        for processes in ("1", "3"):
            done = recorded_run.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", processes, recorded_run.vramscope(), "fleet", "--mpi", str(job),
                                     "--json"])
            self.assertEqual(done.code, 0, done.stderr)
            self.assertEqual(done.stdout, alone.stdout)
            self.assertIn(b"broken.vms", done.stderr)
        wrong = recorded_run.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", recorded_run.vramscope(), "fleet", "--mpi", str(job),
                                  "--top", "x"])
        self.assertEqual((wrong.stdout + wrong.stderr).count(b"--top needs a number"), 1, "said once, not by each process")

    def test_mpi_processes_that_see_other_files_give_the_same_answer(self) -> None:
        """As with local disks: each process sees half of the ranks, so no process sees the traces of all outliers and of the typical rank."""
        if shutil.which("mpirun") is None or not Path(recorded_run.vramscope()).with_name("vramscope-fleet-mpi").exists():
            self.skipTest("no MPI when this was built")
        whole = self.folder / "whole/job"
        whole.parent.mkdir()
        make_job(whole, 8, 10)
        program = [recorded_run.vramscope(), "fleet", "--mpi", "job", "--json"]
        words = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
        for node in (0, 1):
            folder = self.folder / f"node{node}/job"
            folder.mkdir(parents=True)
            for rank in range(node, 8, 2):
                (folder / f"rank{rank}.vms").symlink_to(whole / f"rank{rank}.vms")
            words += [":"] * node + ["-n", "1", "-wdir", str(folder.parent), *program]
        alone = subprocess.run([recorded_run.vramscope(), "fleet", "job", "--json"], cwd=whole.parent, stdout=subprocess.PIPE, check=True)
        causes = [finding["cause"] for finding in json.loads(alone.stdout)["findings"] if finding["kind"] == "memory"]
        self.assertTrue(any(causes), causes)
        together = recorded_run.run(words)
        self.assertEqual(together.code, 0, together.stderr)
        self.assertEqual(together.stdout, alone.stdout)

    def test_wrong_use_and_broken_files_are_sentences(self) -> None:
        job = self.folder / "job"
        make_job(job, 3, 3)
        (job / "notes.txt").write_text("no trace")
        with open(job / "rank2.vms", "r+b") as file:
            file.truncate(100)
        done = self.fleet(str(job), "--json")
        self.assertEqual([rank["rank"] for rank in json.loads(done.stdout)["ranks"]], [0, 1])
        self.assertEqual(json.loads(done.stdout)["missing"], [2])
        self.assertIn(b"rank2.vms: cut off", done.stderr)
        (job / "rank2.vms").write_bytes(b"")  # a recorder that could not write
        (job / "3.vms").write_bytes(b"no trace at all")
        done = self.fleet(str(job), "--json")
        self.assertIn(b"rank2.vms: empty", done.stderr)
        self.assertIn(b"3.vms: neither a trace nor a snapshot", done.stderr)
        self.assertNotIn(b"notes.txt", done.stderr)
        self.assertIn(b"empty name", self.fleet("", code=2).stderr)
        empty = self.folder / "empty"
        empty.mkdir()
        self.assertIn(b"has no trace", self.fleet(str(empty), code=2).stderr)
        self.assertIn(b"there is no such file", self.fleet(str(job / "none.vms"), code=2).stderr)
        os.mkfifo(empty / "pipe")
        self.assertIn(b"is neither a file", self.fleet(str(empty / "pipe"), code=2).stderr)
        self.assertIn(b"fleet needs a folder", self.fleet(code=2).stderr)
        self.assertIn(b"needs a percentage", self.fleet(str(job), "--spread-below", "5", code=2).stderr)


if __name__ == "__main__":
    recorded_run.main()
