# SPDX-License-Identifier: Apache-2.0
"""`vramscope report --redact` makes a report that anybody may see: the page, the JSON and the terminal's text of a real run do not contain who made it,
where, and with which arguments. The oracle is a list of words that come only from this machine, this user and this command."""
import getpass
import json
import os
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, clean_environment, python, run, vramscope  # noqa: E402

PROGRAM = '''
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)

    def forward(self, rows):
        return self.outer(torch.relu(self.inner(rows)))  # a line that embed-source keeps

net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(5):
    optimizer.zero_grad()
    net(torch.randn(64, 256, device="cuda")).square().mean().backward()
    optimizer.step()
'''


class RedactedPage(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.home = self.folder / "alice" / "operation bluebird"
        self.home.mkdir(parents=True)
        (self.home / "train.py").write_text(PROGRAM)
        self.trace = self.home / "run.vms"
        command = [python(), str(self.home / "train.py"), "--corpus-folder", "/srv/whitebox", "--host=db7.corp", "--name", "greyjay", "--api-key",
                   "sk-0123456789abcdef"]
        done = run([vramscope(), "dryrun", "--gpu", "a100-40gb", "--embed-source", "-o", str(self.trace), "--", *command], timeout=600)
        if done.code == 2 and b"PyTorch" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.code, 0, done.stderr.decode())
        folders = {str(self.folder), os.path.dirname(python()), os.path.expanduser("~") + "/", "/" + getpass.getuser() + "/"}
        self.telling = sorted(folders | {"alice", "bluebird", "whitebox", "db7.corp", "greyjay", "sk-0123456789abcdef", "--corpus-folder",
                                         "embed-source keeps"})
        if len(platform.node()) > 4:  # a shorter name is a part of other words
            self.telling.append(platform.node())

    def report(self, *options: str) -> str:
        done = run([vramscope(), "report", str(self.trace), *options], env=clean_environment(COLUMNS="250"))
        self.assertEqual(done.code, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_nothing_of_the_place_is_left(self) -> None:
        page = self.folder / "page.html"
        self.report("--html", str(page))
        whole = page.read_text(encoding="utf-8")
        for word in ("alice", "whitebox", "sk-0123456789abcdef"):
            self.assertTrue(word in whole, f"the test looks for what is there: {word}")
        self.report("--redact", "--html", str(page))
        for name, text in (("page", page.read_text(encoding="utf-8")), ("json", self.report("--redact", "--json", "--blocks", "--at", "peak")),
                           ("screen", self.report("--redact"))):
            for word in self.telling:
                with self.subTest(form=name, word=word):
                    self.assertEqual(text.count(word), 0)
            self.assertTrue("train.py:12" in text, f"{name}: lines of the program stay")

    def test_the_figures_and_owners_are_the_same(self) -> None:
        shown, hidden = (json.loads(self.report(*options)) for options in (["--json"], ["--json", "--redact"]))
        for key in ("peak", "steps", "devices", "owned_bytes"):
            self.assertEqual(shown[key], hidden[key], key)
        self.assertEqual([(owner["kind"], owner["bytes"]) for owner in shown["owners"]], [(owner["kind"], owner["bytes"]) for owner in hidden["owners"]])


if __name__ == "__main__":
    recorded_run.main()
