# SPDX-License-Identifier: Apache-2.0
"""Files from others: they nest deeply, claim more than they contain, and have names that are commands to a terminal. Each verb reads them, or
refuses them in one sentence, and stays within its memory limit."""
import gzip
import json
import os
import pickle
import resource
import struct
import subprocess
import sys
import tempfile
import unicodedata
import unittest
import zlib
from pathlib import Path
from typing import Any, Dict, Iterable, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from recorded_run import vramscope

MIB = 1 << 20
PROCESSES, THREADS, EVENTS = 3, 4, 6  # block types
ALLOC, RANGE_BEGIN = 1, 7  # event types
BACKWARD = 1
PLANES_1, PLANES_4 = 1, 4  # storages of a column

# A right-to-left override, an escape, a control character in one byte, bytes that are no UTF-8, a tag, a soft hyphen.
EVIL = "evil\u202e\x1b]0;title\x07\x9b31m\U000e0041\u00ad\u2066.py"


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def text(words: str) -> bytes:
    raw = words.encode()
    return varint(len(raw)) + raw


def sealed(head: bytes) -> bytes:
    return head + struct.pack("<I", zlib.crc32(head))


def file_header() -> bytes:
    return sealed(b"\x89VMS\r\n\x1a\n" + struct.pack("<HHI16sQQ12x", 1, 2, 64, bytes(16), 1, 1))


def block(kind: int, count: int, payload: bytes) -> bytes:
    head = struct.pack("<4sHHIIB3xIQQQQI", b"\xb1VMB", kind, 1, len(payload), len(payload), 0, count, 0, count, 0, 0, zlib.crc32(payload))
    return sealed(head) + payload


def record(number: int, body: bytes) -> bytes:
    return varint(number) + varint(len(body)) + body


def processes(count: int, name: str = "train") -> bytes:
    body = varint(100) + varint(1) + varint(0) + varint(0) + varint(0) + text(name) + text("python " + name)
    return block(PROCESSES, count, b"".join(record(number, body) for number in range(count)))


def threads(count: int) -> bytes:
    return block(THREADS, count, b"".join(record(number, varint(min(number, count - 1)) + varint(7) + text("main")) for number in range(count)))


def events(types: bytes, fields: Iterable[Tuple[int, int, List[int]]] = ()) -> bytes:
    """`fields`: type of event, number of field, a value for each event of the type."""
    columns = [(0, 0, PLANES_1, len(types), types), (0, 3, PLANES_1, 1, b"\0"), (0, 4, PLANES_1, 1, b"\0")]
    for kind, field, values in fields:
        planes = b"".join(bytes(value >> shift & 0xFF for value in values) for shift in range(0, 32, 8))
        columns.append((kind, field, PLANES_4, len(values), planes))
    directory = b"".join(bytes([kind, field, 0, storage]) + varint(count) + varint(len(raw)) for kind, field, storage, count, raw in columns)
    return block(EVENTS, len(types), varint(len(columns)) + directory + b"".join(column[4] for column in columns))


def snapshot(name: str) -> Dict[str, Any]:
    frames = [{"name": name, "filename": f"/home/{name}", "line": 3}]
    segment = {"device": 0, "address": 0x1000000, "total_size": 2 * MIB, "allocated_size": MIB, "active_size": MIB, "requested_size": MIB, "stream": 0,
               "segment_type": "small", "frames": frames,
               "blocks": [{"address": 0x1000000, "size": MIB, "requested_size": MIB, "state": "active_allocated", "frames": frames},
                          {"address": 0x1100000, "size": MIB, "requested_size": 0, "state": "inactive", "frames": []}]}
    trace = [{"action": "segment_alloc", "addr": 0x1000000, "size": 2 * MIB, "stream": 0, "time_us": 1, "frames": frames},
             {"action": "alloc", "addr": 0x1000000, "size": MIB, "stream": 0, "time_us": 2, "frames": frames},
             {"action": "oom", "device_free": MIB, "size": 4 * MIB, "stream": 0, "time_us": 3, "frames": frames}]
    return {"segments": [segment], "device_traces": [trace], "external_annotations": [{"stage": "START", "name": name, "device": 0, "time_us": 1}]}


def invisible(said: str) -> List[str]:
    return [hex(ord(c)) for c in said if c != "\n" and (c == "\ufffe" or unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"))]


class ForeignFiles(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name: str, content: bytes) -> str:
        path = Path(self.folder.name) / name
        path.write_bytes(content)
        return str(path)

    def run_verb(self, *words: str, memory: int = 1536 * MIB) -> Tuple[int, str, str]:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        done = subprocess.run([vramscope(), *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, preexec_fn=limit)
        self.assertGreaterEqual(done.returncode, 0, f"{words} ended by a signal: {done.stderr!r}")
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def assert_refused(self, *words: str) -> str:
        code, _, said = self.run_verb(*words)
        self.assertIn(code, (2, 3), said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertNotIn("bug in vramscope", said)
        self.assertNotIn("bad_alloc", said)
        return said

    def test_ranges_nested_without_end_are_read(self) -> None:
        deep = 250_000
        begins = events(bytes([RANGE_BEGIN]) * deep + bytes([ALLOC]),
                        [(RANGE_BEGIN, 0, [BACKWARD] * deep), (ALLOC, 0, [4096]), (ALLOC, 1, [512]), (ALLOC, 2, [0x100])])
        path = self.file("nested.vms", file_header() + processes(1) + threads(1) + begins)
        for verb in ("report", "frag", "leaks", "replay", "info", "explain"):
            with self.subTest(verb):
                _, said, errors = self.run_verb(verb, path)
                self.assertNotIn("bug in vramscope", errors)
        self.assertIn("Peak 512 B", self.run_verb("report", path)[1])

    def test_a_file_that_claims_more_than_it_holds_is_refused(self) -> None:
        claims = block(EVENTS, 1 << 20, b"")
        self.assertIn("which no recording does", self.assert_refused("report", self.file("many.vms", file_header() + 500 * claims)))

    def test_a_million_devices_and_processes_cost_what_their_bytes_pay_for(self) -> None:
        count = 60_000
        of_devices = events(bytes([ALLOC]) * count, [(ALLOC, 0, [4096 * i for i in range(1, count + 1)]), (ALLOC, 1, [512] * count),
                                                     (ALLOC, 2, list(range(count)))])
        path = self.file("devices.vms", file_header() + processes(1) + threads(1) + of_devices)
        self.assertEqual(self.run_verb("report", path, memory=768 * MIB)[0], 0)
        path = self.file("processes.vms", file_header() + record_far_away() + threads(1) + events(bytes([ALLOC])))
        self.run_verb("info", path, memory=512 * MIB)

    def test_a_text_without_end_in_a_packed_json_is_refused(self) -> None:
        path = self.file("long.json.gz", gzip.compress(b'{"segments": [], "x": "' + b"a" * (64 * MIB) + b'"}', 1))
        self.assertIn("a string of more than", self.assert_refused("report", path))

    def test_a_file_of_gpus_that_does_not_end_is_refused(self) -> None:
        self.assertIn("more than 1.0 MiB", self.assert_refused("dryrun", "--gpu-file", "/dev/zero", "--gpu", "list"))

    def test_no_name_commands_the_terminal(self) -> None:
        path = self.file("evil.pickle", pickle.dumps(snapshot(EVIL), protocol=4))
        trace = self.file("evil.vms", file_header() + processes(1, EVIL) + threads(1) + events(
            bytes([ALLOC]), [(ALLOC, 0, [4096]), (ALLOC, 1, [512]), (ALLOC, 2, [0x100])]))
        for file in (path, trace):
            for words in (["report"], ["info"], ["frag"], ["oom"], ["leaks"], ["explain"], ["replay"], ["pack"], ["diff", file],
                          ["check", "--peak-below", "1KiB"],
                          ["whatif", "--batch", "2"], ["plan", "--fit", "1KiB"], ["plan", "--fit", "1KiB", "--verify"]):
                for form in ([], ["--json"]):
                    with self.subTest(verb=words, form=form, file=file):
                        _, said, errors = self.run_verb(words[0], file, *words[1:], *form)
                        self.assertEqual(invisible(said + errors), [])
                        if form and said:
                            json.loads(said)
        self.assertIn("evil\\u202e", self.run_verb("info", trace, "--json")[1])
        page = Path(self.folder.name) / "page.html"
        self.run_verb("report", path, "--html", str(page))
        self.assertEqual([c for c in invisible(page.read_text()) if c not in ("0x9", "0xd")], [])
        missing = self.run_verb("report", str(page) + EVIL)[2]
        self.assertEqual(invisible(missing), [])

    def test_nothing_that_a_file_names_is_run(self) -> None:
        ran = Path(self.folder.name) / "ran"
        trace = self.file("command.vms", file_header() + processes(1, f"x; touch {ran}") + threads(1) + events(bytes([ALLOC]), [(ALLOC, 1, [512])]))
        self.run_verb("plan", trace, "--fit", "1KiB", "--verify")
        self.assertFalse(ran.exists())

    def test_a_run_that_allocated_nothing_is_not_judged(self) -> None:
        path = self.file("none.vms", file_header() + processes(1) + threads(1) + events(bytes([RANGE_BEGIN])))
        code, said, _ = self.run_verb("check", path, "--peak-below", "50KiB", "--frag-below", "10%")
        self.assertEqual(code, 3)
        self.assertEqual(said.count("could not be judged: nothing was allocated"), 2, said)
        self.assertIn("below 50.0 KiB", said)
        self.assertIn("below 10.0 %", said)

    def test_pipes_and_moments_beyond_the_end_are_refused(self) -> None:
        pipe = f"{self.folder.name}/pipe"
        os.mkfifo(pipe)
        for verb in ("report", "frag", "info"):
            self.assertIn("a pipe cannot be read", self.assert_refused(verb, pipe))
        path = self.file("small.pickle", pickle.dumps(snapshot("main"), protocol=4))
        events = json.loads(self.run_verb("info", path, "--json")[1])["events"]
        for verb in ("report", "frag"):
            self.assertEqual(self.run_verb(verb, path, "--at", f"event:{events}")[0], 0)
            self.assertIn(f"no event:{events + 1}", self.assert_refused(verb, path, "--at", f"event:{events + 1}"))
        self.assertIn("this is a PyTorch snapshot", self.assert_refused("plan", path, "--fit", "1GiB"))

    def test_a_file_without_a_verb_is_reported(self) -> None:
        path = self.file("run.vms", file_header() + processes(1) + threads(1) + events(bytes([ALLOC]), [(ALLOC, 1, [512])]))
        self.assertEqual(self.run_verb(path), self.run_verb("report", path))

    def test_a_budget_bounds_packing(self) -> None:
        rows = "".join(f"{i},{i},{i + 100_000},{1 + i * 7919 % 4096}\n" for i in range(100_000))
        path = self.file("blocks.csv", ("id,lower,upper,size\n" + rows).encode())
        answer = json.loads(self.run_verb("pack", path, "--budget", "1ms", "--json")[1])
        self.assertEqual(answer["reached"], "in_order_of_time")
        self.assertGreaterEqual(answer["achieved_bytes"], answer["lower_bound_bytes"])


def record_far_away() -> bytes:
    body = varint(100) + varint(1) + varint(0) + varint(0) + varint(0) + text("p") + text("p")
    return block(PROCESSES, 1, record(0, body)) + block(PROCESSES, 1, record(1_000_000, body))


if __name__ == "__main__":
    unittest.main(verbosity=2)
