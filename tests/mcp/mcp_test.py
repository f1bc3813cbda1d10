#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope mcp`: a scripted session of an agent, whose answers are those of the verbs, and hostile lines, files and names."""
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import SOURCE, RecordingTest, clean_environment, vramscope  # noqa: E402

EXAMPLE = SOURCE / "trace_format/testdata/v1_training.vms"


class McpTest(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.runs = self.folder / "runs"
        self.runs.mkdir()
        shutil.copy(EXAMPLE, self.runs / "run.vms")
        shutil.copy(EXAMPLE, self.folder / "secret.vms")
        (self.runs / "cut.vms").write_bytes(EXAMPLE.read_bytes()[:2000])
        (self.runs / "broken.vms").write_bytes(EXAMPLE.read_bytes()[:8] + os.urandom(4000))
        (self.runs / "out.vms").symlink_to(self.folder / "secret.vms")
        os.mkfifo(self.runs / "pipe.vms")

    def lines(self, *sent: bytes) -> List[Any]:
        """The answers to a session that sends these lines."""
        done = subprocess.run([vramscope(), "mcp", str(self.runs)], input=b"".join(line + b"\n" for line in sent), capture_output=True, timeout=300,
                              env=clean_environment(), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def call(self, tool: str, **arguments: Any) -> Any:
        (answer,) = self.lines(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}).encode())
        self.assertEqual((answer["jsonrpc"], answer["id"]), ("2.0", 7))
        return answer["result"]

    def document(self, tool: str, **arguments: Any) -> Any:
        result = self.call(tool, **arguments)
        self.assertFalse(result["isError"], result)
        return json.loads(result["content"][0]["text"])

    def test_a_session(self) -> None:
        initialized, tools, listed, report, pong = self.lines(
            b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
            b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
            b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_runs"}}',
            b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"report","arguments":{"file":"run.vms","top":2}}}',
            b'{"jsonrpc":"2.0","id":"four","method":"ping"}')
        self.assertEqual(initialized["result"]["protocolVersion"], "2025-06-18")
        names = [tool["name"] for tool in tools["result"]["tools"]]
        for name in ("list_runs", "report", "whatif", "plan", "oom", "leaks"):
            self.assertIn(name, names)
        runs = json.loads(listed["result"]["content"][0]["text"])["runs"]
        self.assertEqual([run["file"] for run in runs], ["broken.vms", "cut.vms", "run.vms"])
        self.assertEqual(json.loads(report["result"]["content"][0]["text"]), recorded_run.ask("report", str(self.runs / "run.vms"), "--top", "2"))
        self.assertEqual(pong, {"jsonrpc": "2.0", "id": "four", "result": {}})

    def test_answers_are_those_of_the_verbs(self) -> None:
        path = str(self.runs / "run.vms")
        self.assertEqual(self.document("info", file="run.vms"), recorded_run.ask("info", path))
        moments = self.document("report", file="run.vms", at=["step:1", "end"])["moments"]
        self.assertEqual(moments, recorded_run.ask("report", path, "--at", "step:1", "--at", "end")["moments"])
        refused = self.call("oom", file="run.vms")
        self.assertTrue(refused["isError"])
        self.assertIn("only GPUs have a caching allocator", refused["content"][0]["text"])

    def test_damaged_files_are_sentences_and_the_server_goes_on(self) -> None:
        call = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"report","arguments":{"file":"%s"}}}'
        broken, cut, whole = self.lines(call % (1, b"broken.vms"), call % (2, b"cut.vms"), call % (3, b"run.vms"))
        self.assertTrue(broken["result"]["isError"])
        self.assertNotIn("vramscope: ", broken["result"]["content"][0]["text"])
        self.assertIn("content", cut["result"])
        self.assertFalse(whole["result"]["isError"])

    def test_nothing_outside_the_folder_is_read(self) -> None:
        for name in ("../secret.vms", str(self.folder / "secret.vms"), "out.vms", "/etc/passwd", "pipe.vms", ".", "../runs", "missing.vms", "--help", ""):
            result = self.call("report", file=name)
            self.assertTrue(result["isError"], name)
            self.assertIn("is not a file in the served folder", result["content"][0]["text"])

    def test_nothing_is_written_and_nothing_runs(self) -> None:
        before = {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}
        self.call("report", file="run.vms", at="--html=page.html")
        for tool, arguments in (("report", {"html": "page.html"}), ("plan", {"fit": "24GiB", "verify": True}), ("whatif", {"by": "rerun"}), ("pack", {})):
            (answer,) = self.lines(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": tool, "arguments": {"file": "run.vms", **arguments}}}).encode())
            self.assertTrue("error" in answer or answer["result"]["isError"], answer)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}, before)

    def test_hostile_lines(self) -> None:
        answers = self.lines(b"\xff\x00{", b"[" * 500_000, b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"a" * (2 << 20) + b'"}', b"",
                             b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"report","arguments":{"file":"\\u001b[2J\\u202e"}}}',
                             b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
        self.assertEqual([answer.get("error", {}).get("code") for answer in answers], [-32700, -32700, -32600, None, None])
        self.assertNotIn("\u202e", answers[3]["result"]["content"][0]["text"])
        self.assertEqual(answers[4], {"jsonrpc": "2.0", "id": 3, "result": {}})

    def test_a_folder_is_needed(self) -> None:
        for arguments in ([], [str(self.runs / "missing")], [str(self.runs / "run.vms")]):
            done = recorded_run.run([vramscope(), "mcp", *arguments])
            self.assertEqual(done.code, 2)
            self.assertTrue(done.stderr.startswith(b"vramscope: "), done.stderr)


if __name__ == "__main__":
    unittest.main()
