# SPDX-License-Identifier: Apache-2.0
"""A process that cannot be attached to is refused with a sentence that says why, and does not change."""
import ctypes
import os
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any, Optional, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import drawn
import recorded_run
from attach_test import attach
from recorded_run import RecordingTest, target

BAD_INPUT = 2
SEIZE, DETACH = 0x4206, 17  # PTRACE_SEIZE, PTRACE_DETACH
NOBODY = 65534
INTERPRETER = "/lib64/ld-linux-x86-64.so.2"
IGNORES_SEGV = "import signal, time; signal.signal(signal.SIGSEGV, signal.SIG_IGN); print(flush=True); time.sleep(60)"
# A filter of one instruction that allows everything: struct sock_fprog after struct sock_filter.
UNDER_SECCOMP = """
import ctypes, struct, sys
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("H6xQ", 1, ctypes.addressof(allow)))
prctl = ctypes.CDLL(None).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, program, 0, 0) == 0
print(flush=True)
sys.stdout.write(sys.stdin.read())
"""
# pause(), again and again.
CODE_32_BIT = bytes.fromhex("b81d000000 cd80 ebf7")
HOLDS_LOADER = """
import ctypes, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
threading.Thread(target=library.hold_loader_lock, args=(int(sys.argv[2]),), daemon=True).start()
while not library.holding(): time.sleep(0.01)
print(flush=True)
end = time.monotonic() + 600
while time.monotonic() < end: bytearray(100_000)
"""


@drawn.share(3)
class Refusal(RecordingTest):
    def run_target(self, *command: str, **options: Any) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def sleeper(self, **options: Any) -> "subprocess.Popen[bytes]":
        process = self.run_target("/bin/cat", **options)
        time.sleep(0.1)
        return process

    @staticmethod
    def wait_for(pid: int, line: str, value: str) -> None:
        """Waits until `line` of the process's status begins with `value`; for "!x", until it does not begin with x."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            now = Path(f"/proc/{pid}/status").read_text().split(line + ":")[1].strip()
            if now.startswith(value.lstrip("!")) != value.startswith("!"):
                return
            time.sleep(0.005)

    def refused(self, pid: Any, *words: str, options: Sequence[str] = ()) -> None:
        trace = self.folder / "refused.vms"
        done = attach(pid, "--quiet", "-o", str(trace), *options)
        text = done.stderr.decode()
        self.assertEqual(done.code, BAD_INPUT, text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in words:
            self.assertIn(word, text)
        self.assertFalse(trace.exists(), "no trace was made")

    def unharmed(self, process: "subprocess.Popen[bytes]") -> None:
        output, _ = process.communicate(b"still here", timeout=900)
        self.assertEqual((process.returncode, output), (0, b"still here"))

    def test_what_is_no_process(self) -> None:
        self.refused(2**22 + 1, "There is no process")
        self.refused("abc", "'abc' is not a process id")
        self.refused(1, "is the first process")

    def test_bad_options(self) -> None:
        for option, value, word in (("--steps", "0", "--steps"), ("--duration", "soon", "500ms, 30s"), ("--device", "tpu", "auto, cpu")):
            self.refused(os.getpid(), word, options=[option, value])

    def test_a_zombie(self) -> None:
        process = subprocess.Popen(["/bin/true"])
        time.sleep(0.2)
        self.refused(process.pid, "has ended")
        process.wait()

    def test_a_stopped_one(self) -> None:
        process = self.sleeper()
        process.send_signal(signal.SIGSTOP)
        self.wait_for(process.pid, "State", "T")
        self.refused(process.pid, "is stopped by a signal", "kill -CONT")
        process.send_signal(signal.SIGCONT)
        self.unharmed(process)

    def test_one_that_is_traced(self) -> None:
        process = self.sleeper()
        ptrace = ctypes.CDLL(None).ptrace
        ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        if ptrace(SEIZE, process.pid, None, None) != 0:
            self.skipTest("this system lets nobody trace")
        self.refused(process.pid, "is being traced by", str(os.getpid()))
        process.kill()

    @unittest.skipIf(os.geteuid() != 0, "only root can become other users")
    def test_another_users(self) -> None:
        process = self.sleeper()
        command = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", recorded_run.vramscope(), "attach",
                   str(process.pid)]
        done = recorded_run.run(command, cwd="/")
        if b"vramscope:" not in done.stderr:
            self.skipTest("that user may not run vramscope here")
        self.assertEqual(done.code, BAD_INPUT)
        self.assertIn(b"belongs to user root", done.stderr)
        self.unharmed(process)

    @unittest.skipIf(os.geteuid() != 0, "only root can make such a program")
    def test_a_setuid_program(self) -> None:
        program = self.folder / "cat"
        program.write_bytes(Path("/bin/cat").read_bytes())
        program.chmod(0o4755)
        self.folder.chmod(0o755)
        process = self.sleeper_of(program)
        self.refused(process.pid, "raised privileges")
        self.unharmed(process)

    def sleeper_of(self, program: Path) -> "subprocess.Popen[bytes]":
        process = self.run_target("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", str(program))
        for _ in range(500):
            if Path(f"/proc/{process.pid}/comm").read_text().strip() == program.name:
                break
            time.sleep(0.01)
        return process

    def test_one_under_a_seccomp_filter_of_its_own(self) -> None:
        process = self.run_target(sys.executable, "-c", UNDER_SECCOMP)
        self.assertEqual(process.stdout.readline(), b"\n")
        self.refused(process.pid, "has put itself under a seccomp filter", "vramscope record")
        self.unharmed(process)

    def test_a_32_bit_program(self) -> None:
        program = self.folder / "small"
        begin, headers = 0x08048000, 52 + 32
        header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, begin + headers, 52, 0, 0, 52, 32, 1, 0, 0, 0)
        size = headers + len(CODE_32_BIT)
        program.write_bytes(header + struct.pack("<IIIIIIII", 1, 0, begin, begin, size, size, 5, 0x1000) + CODE_32_BIT)
        program.chmod(0o755)
        try:
            process = self.run_target(str(program))
        except OSError:
            self.skipTest("this kernel runs no 32-bit programs")
        self.refused(process.pid, "is a 32-bit program")
        self.assertIsNone(process.poll())

    def test_a_program_of_another_c_library(self) -> None:
        loader = self.folder / "ld-musl-x86_64.so.1"  # the name is what counts; musl itself is not needed
        loader.write_bytes(Path(INTERPRETER).read_bytes())
        loader.chmod(0o755)
        process = self.run_target(str(loader), "/bin/cat")
        time.sleep(0.1)
        self.refused(process.pid, "uses the musl C library")
        self.unharmed(process)

    def test_one_in_another_container(self) -> None:
        for option in ("--mount", "--pid"):
            process = self.run_target("unshare", option, "--fork", "/bin/cat", stderr=subprocess.DEVNULL)
            inside = self.child_of(process)
            if inside is None:
                self.skipTest("this system lets nobody make namespaces")
            self.refused(inside, "runs in another container", "docker exec")
            self.unharmed(process)

    def child_of(self, process: "subprocess.Popen[bytes]") -> Optional[int]:
        """The child of the process, once that runs cat; None if the process has ended."""
        while process.poll() is None:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if children and Path(f"/proc/{children[0]}/comm").read_text() == "cat\n":
                return int(children[0])
            time.sleep(0.01)
        return None

    def test_a_thread(self) -> None:
        process = self.run_target(sys.executable, "-c", HOLDS_LOADER, target("libattach_guest.so"), "60")
        process.stdout.readline()
        thread = next(int(name) for name in os.listdir(f"/proc/{process.pid}/task") if int(name) != process.pid)
        self.refused(thread, f"is a thread of process {process.pid}")

    def test_a_part_of_the_kernel(self) -> None:
        if not Path("/proc/2/exe").is_symlink() or Path("/proc/2/maps").read_text():
            self.skipTest("process 2 is none here")
        self.refused(2, "is a part of the kernel")

    def test_a_static_program(self) -> None:
        process = self.run_target(target("static_target"), "0", "wait")
        time.sleep(0.1)
        if process.poll() is not None:
            self.skipTest("it has ended by itself")
        self.refused(process.pid, "statically linked")

    def test_one_that_ignores_a_signal_that_is_needed(self) -> None:
        process = self.run_target(sys.executable, "-c", IGNORES_SEGV)
        process.stdout.readline()
        self.refused(process.pid, "ignores SIGTRAP or SIGSEGV")

    def test_one_that_never_comes_to_a_safe_point(self) -> None:
        process = self.sleeper()
        self.refused(process.pid, "did not allocate memory within", "Nothing was changed")
        self.unharmed(process)

    def test_one_that_holds_the_loaders_lock(self) -> None:
        process = self.run_target(sys.executable, "-c", HOLDS_LOADER, target("libattach_guest.so"), "60")
        process.stdout.readline()
        self.refused(process.pid, "loading a library", "Nothing was changed")
        self.assertIsNone(process.poll())

    def test_one_that_ends_meanwhile(self) -> None:
        process = self.sleeper()
        attaching = subprocess.Popen([recorded_run.vramscope(), "attach", str(process.pid)], stderr=subprocess.PIPE)
        self.wait_for(process.pid, "TracerPid", "!0")
        process.kill()
        process.wait()
        _, errors = attaching.communicate(timeout=900)
        self.assertEqual(attaching.returncode, BAD_INPUT)
        self.assertRegex(errors, rb"ended( \(signal 9\))? before vramscope was in it")

    def test_ctrl_c_while_it_waits(self) -> None:
        process = self.sleeper()
        attaching = subprocess.Popen([recorded_run.vramscope(), "attach", str(process.pid)], stderr=subprocess.PIPE)
        self.wait_for(process.pid, "TracerPid", "!0")
        attaching.send_signal(signal.SIGINT)
        _, errors = attaching.communicate(timeout=900)
        self.assertIn(b"as you asked", errors)
        self.unharmed(process)


if __name__ == "__main__":
    recorded_run.main()
