# SPDX-License-Identifier: Apache-2.0
"""`vramscope diff` names the one change between two real runs. The oracle of its bytes is PyTorch: max_memory_allocated, and the tensors
that the optimizer holds."""
import html
import json
import re
import sys
from pathlib import Path
from typing import Any, Dict, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import drawn
import recorded_run
from recorded_run import SAMPLES, RecordingTest, python

# Trains the sample and prints what PyTorch reports about its memory.
INTROSPECTED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch, gpt
options = gpt.training.start(gpt.arguments(), sys.argv[2:])
job = gpt.build(options)
gpt.training.train(job, options)
state = sum(tensor.nbytes for kept in job.optimizers[0].state.values() for tensor in kept.values() if torch.is_tensor(tensor) and tensor.is_cuda)
print(json.dumps({"peak": torch.cuda.max_memory_allocated(), "state": state}), file=sys.stderr)
"""


@drawn.share(2)
class Diff(RecordingTest):
    def trained(self, name: str, *flags: str) -> Dict[str, Any]:
        """The trace of a training with these flags, and what PyTorch reports about it."""
        trace = self.folder / f"{name}.vms"
        command = [python(), "-c", INTROSPECTED, str(SAMPLES), "--device", "cuda", "--steps", "4", "--dim", "256", *flags]
        done = recorded_run.record(trace, command, env=simulated_device.environment(python()))
        self.assertEqual(done.code, 0, done.stderr.decode())
        said = [line for line in done.stderr.decode().splitlines() if line.startswith("{")]
        return {"trace": str(trace), **json.loads(said[-1])}

    def assert_near(self, ours: int, theirs: int) -> None:
        self.assertLessEqual(abs(ours - theirs), abs(theirs) / 100, f"{ours} against {theirs}")

    def test_the_one_change_is_named_first(self) -> None:
        plain = ["--layers", "2", "--optimizer", "sgd", "--batch", "8"]
        before = self.trained("before", *plain)
        for name, flags, kind, words in (
            ("layer", ["--layers", "3"], "model", "1 more module: blocks.2 (12 parameters)"),
            ("optimizer", ["--optimizer", "adam"], "optimizer", "SGD -> Adam"),
            ("batch", ["--batch", "16"], "batch", "2.00 times"),
        ):
            with self.subTest(name):
                after = self.trained(name, *plain, *flags)
                answer = recorded_run.ask("diff", before["trace"], after["trace"])
                cause = answer["causes"][0]
                self.assertEqual(cause["kind"], kind)
                first = self.first_line(before["trace"], after["trace"])
                self.assertIn(words, first)
                markdown = html.unescape(re.sub(r"\\(.)", r"\1", self.first_line(before["trace"], after["trace"], "--markdown")))
                self.assertEqual(markdown, f"**{first}**")
                self.assertEqual(self.page(before["trace"], after["trace"]), (first, answer))
                self.assertEqual(answer["change_bytes"], after["peak"] - before["peak"])
                self.assertEqual(sum(row["change_bytes"] for row in answer["categories"]), answer["change_bytes"])
                self.assert_near(cause["change_bytes"], after["peak"] - before["peak"])
                if kind == "optimizer":
                    state = {row["name"]: row["change_bytes"] for row in answer["categories"]}["optimizer_state"]
                    self.assert_near(state, after["state"] - before["state"])

    def page(self, before: str, after: str) -> Tuple[str, Any]:
        """The headline and the document of the HTML page."""
        page = self.folder / "diff.html"
        done = recorded_run.run([recorded_run.vramscope(), "diff", before, after, "--html", str(page)])
        self.assertEqual((done.code, done.stdout, done.stderr), (0, b"", b""))
        data = dict(re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL))
        return json.loads(data["picture"])["headline"], json.loads(data["report"])

    def first_line(self, before: str, after: str, *options: str) -> str:
        done = recorded_run.run([recorded_run.vramscope(), "diff", before, after, *options])
        self.assertEqual(done.code, 0, done.stderr.decode())
        return done.stdout.decode().splitlines()[0]

    def test_what_cannot_be_compared_is_refused_by_name(self) -> None:
        wrong = self.folder / "wrong.vms"
        wrong.write_bytes(b"no trace")
        done = recorded_run.run([recorded_run.vramscope(), "diff", str(wrong), str(wrong)])
        self.assertEqual(done.code, 2)
        self.assertIn(b"wrong.vms", done.stderr)


if __name__ == "__main__":
    recorded_run.main()
