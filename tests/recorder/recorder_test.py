#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recorder in shared or limited environments: next to other recorders, in containers, with little shared memory or few descriptors.

The program is tests/never_lost/counting_target.cc, which counts its allocations in a file. Containers are pid and mount namespaces; where those
cannot be made the tests are skipped.

    recorder_test.py --pairs 1000      that many pairs of real recorders for the test of concurrent ones, instead of 3
"""
import os
import signal
import struct
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import RecordingTest, ask, clean_environment, record, run, target, vramscope

PAIRS = 3


def can_unshare(*options: str) -> bool:
    return subprocess.run(["unshare", *options, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def counted(path: Path) -> List[int]:
    """The number of finished allocations, by thread."""
    return [done for _, done in struct.iter_unpack("<QQ", path.read_bytes())]


class Outputs(RecordingTest):
    def test_concurrent_recorders_of_one_name_have_a_file_each(self) -> None:
        for pair in range(PAIRS):
            folder = self.folder / str(pair)
            folder.mkdir()
            command = [vramscope(), "record", "-o", "one.vms", "--depth", "light", "--", "true"]
            recorders = [subprocess.Popen(command, cwd=folder, env=clean_environment(), stderr=subprocess.PIPE, text=True) for _ in range(2)]
            said = [recorder.communicate(timeout=600)[1] for recorder in recorders]
            self.assertEqual([recorder.returncode for recorder in recorders], [0, 0], said)
            self.assertEqual(sorted(os.listdir(folder)), ["one-2.vms", "one.vms"], said)
            self.assertEqual(len([text for text in said if "this one writes one-2.vms" in text]), 1, said)
            for name in ("one.vms", "one-2.vms"):
                self.assertEqual(ask("info", str(folder / name))["metadata"]["command_line"], "true")

    def test_names_of_ranks_are_filled_in(self) -> None:
        done = record(Path("job-%j-rank%r.vms"), ["true"], cwd=self.folder, env=clean_environment(SLURM_JOB_ID="7", RANK="3"))
        self.assertEqual(done.code, 0, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["job-7-rank3.vms"])

    def test_what_is_no_trace_is_not_written_over(self) -> None:
        script = self.folder / "train.py"
        script.write_text("print('trained')")
        for options in ([], ["--black-box", "2"]):
            done = record(script, [sys.executable, str(script)], options)
            self.assertEqual((done.code, done.stdout), (2, b""))
            self.assertIn(b"is not a trace of vramscope", done.stderr)
        self.assertEqual(script.read_text(), "print('trained')")
        trace = self.recorded(["true"])
        before = trace.read_bytes()
        for command in (["convert", str(trace), str(trace)], ["check", str(trace), "--peak-below", "1GiB", "--junit", str(trace)]):
            self.assertIn(b"cannot be written too", run([vramscope(), *command]).stderr)
        self.assertEqual(trace.read_bytes(), before)

    def test_a_file_size_limit_is_said_and_ends_neither_recorder_nor_command(self) -> None:
        # Limits of the file size: 0 (no trace is possible, so the command is not started), enough for the header, enough for some blocks.
        for limit, code, out in ((0, 2, b""), (200, 3, b"started\n"), (400, 3, b"started\n")):
            done = run(["prlimit", f"--fsize={limit}", vramscope(), "record", "-o", str(self.folder / f"{limit}.vms"), "--",
                        "sh", "-c", "echo started; exit 3"])
            self.assertEqual((done.code, done.stdout, done.stderr.count(b"\n")), (code, out, 1), done.stderr)
            self.assertIn(b"cannot be written: File too large", done.stderr)
        # The command gets the signal as if it had been started alone.
        (self.folder / "full").write_text("")
        done = run([vramscope(), "record", "-o", str(self.folder / "run.vms"), "--", "prlimit", "--fsize=0", "sh", "-c", f"echo a > {self.folder}/full"])
        self.assertEqual(done.code, -signal.SIGXFSZ, done.stderr)

    def test_standard_output_and_pipes_are_written_to(self) -> None:
        done = record(Path("/dev/stdout"), ["true"])
        self.assertEqual(done.code, 0, done.stderr)
        piped = self.folder / "piped.vms"
        piped.write_bytes(done.stdout)
        self.assertEqual(ask("info", str(piped))["metadata"]["command_line"], "true")
        copied = run([vramscope(), "convert", str(piped), "/dev/stdout", "--to", "vms"])
        self.assertEqual((copied.code, copied.stdout[:4]), (0, b"\x89VMS"), copied.stderr)

    def test_secrets_of_the_command_line_can_be_left_out(self) -> None:
        command = ["sh", "-c", "true", "sh", "--hf-token", "hf_abcdefghijklmnop"]
        shown = self.recorded(command)
        self.assertIn(b"hf_abcdefghijklmnop", run([vramscope(), "info", str(shown)]).stdout)
        copy = self.folder / "copy.vms"
        self.assertEqual(run([vramscope(), "convert", "--redact", str(shown), str(copy)]).code, 0)
        hidden = self.recorded(command, ["--redact"], trace=self.folder / "hidden.vms")
        for trace in (copy, hidden):
            self.assertEqual(ask("info", str(trace))["metadata"]["command_line"], "sh -c true sh --hf-token [redacted]")


class Places(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.counters = [self.folder / "counters0", self.folder / "counters1"]

    def make_counters(self, threads: int) -> None:
        for path in self.counters:
            path.write_bytes(bytes(16 * threads))

    def processes(self, trace: Path) -> List[Dict[str, Any]]:
        answer = ask("info", str(trace))
        self.assertEqual(answer["dropped_events"], 0)
        return [process for process in answer["processes"] if "counting_target" in process["executable"]]

    @unittest.skipUnless(can_unshare("-p", "-f", "--mount-proc"), "no pid namespaces here")
    def test_programs_of_the_same_number_in_two_pid_namespaces_are_two(self) -> None:
        self.make_counters(1)
        # Full rings: the target has to find out whether the collector lives, whose process id means nothing in this namespace.
        inside = "unshare -p -f --mount-proc timeout -s KILL 0.3 {} {} 1 0"
        script = " & ".join(inside.format(target("counting_target"), path) for path in self.counters) + " & wait"
        trace = self.recorded(["sh", "-c", script], ["--depth", "light"])
        processes = self.processes(trace)
        self.assertEqual(len(processes), 2)
        self.assertEqual(len({process["pid"] for process in processes}), 2, processes)
        allocations: Dict[int, int] = {}
        for event in recorded_run.events(trace, "alloc"):
            allocations[event.pid] = allocations.get(event.pid, 0) + 1
        for done, recorded in zip(sorted(counted(path)[0] for path in self.counters), sorted(allocations.values())):
            self.assertGreaterEqual(recorded, done)

    @unittest.skipUnless(can_unshare("-m"), "no mount namespaces here")
    def test_a_program_gets_all_but_nothing_of_a_small_shared_memory(self) -> None:
        self.make_counters(8)
        program = textwrap.dedent("""
            import os, struct, subprocess, sys
            target = subprocess.Popen([sys.argv[1], sys.argv[2], "8", "100000"])
            while not all(done for _, done in struct.iter_unpack("<QQ", open(sys.argv[2], "rb").read())):
                pass
            mine = os.open("/dev/shm/mine", os.O_CREAT | os.O_RDWR)
            os.posix_fallocate(mine, 0, (64 << 20) - 4096)
            target.kill()
            target.wait()
        """)
        narrow = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m none /dev/shm && exec "$@"', "sh"]
        trace = self.folder / "run.vms"
        command = [sys.executable, "-c", program, target("counting_target"), str(self.counters[0])]
        done = run([*narrow, *recorded_run.record_command(trace, command, ["--depth", "light"])])
        self.assertEqual(done.code, 0, done.stderr)
        self.assertEqual(len(self.processes(trace)), 1)

    @unittest.skipUnless(can_unshare("-m"), "no mount namespaces here")
    def test_where_there_is_nothing_else_rings_take_a_small_share_of_it(self) -> None:
        narrow = 'mount -t tmpfs -o size=8m none /dev/shm && mount -t tmpfs -o ro none /tmp && exec "$@"'
        program = 'head -c 128 /dev/zero > /dev/shm/counters; timeout -s KILL 0.3 "$@"; df --output=used -k /dev/shm | tail -1'
        done = run(["unshare", "-m", "sh", "-c", narrow, "sh", vramscope(), "record", "-o", "/dev/shm/run.vms", "--depth", "light", "--",
                    "sh", "-c", program, "sh", target("counting_target"), "/dev/shm/counters", "8", "100000"],
                   cwd="/", env=clean_environment(TMPDIR="/tmp"))
        self.assertEqual(done.code, 0, done.stderr)
        self.assertLessEqual(int(done.stdout), 512 + 512, "KiB: 1/16 of 8 MiB, and the trace")

    def test_few_descriptors_and_little_address_space_do_not_stop_the_program(self) -> None:
        self.make_counters(1)
        for limit in ("ulimit -n 4", "ulimit -v 60000"):
            script = f'{limit}; timeout -s KILL 0.2 "$@"; test $? = 137'
            done = run([vramscope(), "record", "-o", str(self.folder / "run.vms"), "--depth", "light", "--", "sh", "-c", script, "sh",
                        target("counting_target"), str(self.counters[0]), "1", "100000"])
            self.assertEqual(done.code, 0, done.stderr)
            self.assertGreater(counted(self.counters[0])[0], 0)

    def test_folders_of_the_user_stay(self) -> None:
        theirs = self.folder / "vramscope-results"
        theirs.mkdir()
        (theirs / "table.csv").write_text("precious")
        script = 'mount -t tmpfs -o ro none /dev/shm && exec "$@"'
        command = ["unshare", "-m", "sh", "-c", script, "sh"] if can_unshare("-m") else []
        done = run([*command, *recorded_run.record_command(self.folder / "run.vms", ["true"])], env=clean_environment(TMPDIR=str(self.folder)))
        self.assertEqual(done.code, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["run.vms", "vramscope-results"])
        self.assertEqual((theirs / "table.csv").read_text(), "precious")


class NoBlocks(RecordingTest):
    def test_every_verb_says_that_caching_is_why_there_are_no_blocks(self) -> None:
        trace = str(self.recorded(["true"], env=clean_environment(PYTORCH_NO_CUDA_MEMORY_CACHING="1")))
        verbs = [["report"], ["frag"], ["oom"], ["leaks"], ["replay"], ["pack"], ["whatif", "--checkpoint", "all"], ["plan", "--fit", "8GiB"],
                 ["check", "--no-leak-per-step"], ["diff", trace], ["convert", "--to", "csv", str(self.folder / "out.csv")], ["explain"], ["info"]]
        for verb in verbs:
            with self.subTest(verb=verb[0]):
                done = run([vramscope(), verb[0], trace, *verb[1:]])
                self.assertIn(b"PYTORCH_NO_CUDA_MEMORY_CACHING is set", done.stdout + done.stderr)


class Endings(RecordingTest):
    def test_a_timer_of_the_caller_ends_the_command_and_leaves_a_whole_trace(self) -> None:
        trace = self.folder / "run.vms"
        program = ("import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 1.0); os.execv(sys.argv[1], sys.argv[1:])")
        done = run([sys.executable, "-c", program, *recorded_run.record_command(trace, ["sleep", "60"])])
        self.assertEqual(done.code, -signal.SIGALRM, done.stderr)
        self.assertEqual(int(ask("info", str(trace))["metadata"]["command.wait_status"]), signal.SIGALRM)


if __name__ == "__main__":
    if "--pairs" in sys.argv:
        at = sys.argv.index("--pairs")
        PAIRS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    recorded_run.main()
