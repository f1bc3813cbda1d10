# SPDX-License-Identifier: Apache-2.0
"""`vramscope dryrun` of programs whose memory depends on values that no kernel computes."""
import json
import os
import sys
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from dryrun_test import DryrunTest  # noqa: E402


@drawn.share(5)
class Data(DryrunTest):
    PROGRAM = """
import torch
x = torch.randn(8, 8).cuda()
uploaded = torch.tensor(3).cuda()
for _ in range(3):
    torch.nonzero(x)
assert torch.equal(x, x.clone()) and torch.allclose(x, x + 0) and bool((x == x).all()), "questions whether all are true"
assert uploaded.item() == 3
x.sum().item()
assert len(torch.unique(x.flatten())) == 1, "one value at least"
waits = x.sum() == 0, uploaded == 3, uploaded == 0, uploaded != 3, torch.isinf(x.sum())
assert [bool(answer) for answer in waits] == [True, True, False, False, False], "what is compared with a number is known or zero"
single = x.sum(), x.half().sum(), x.bfloat16().sum(), x.sum().long()
for value in single:
    orders = value < 10, value <= 0, value >= 0, value > -1, value != 5, value < 0.5, value < torch.tensor(3.5).cuda()
    assert all(map(bool, orders)) and not any(map(bool, (value > 0, value < 0, value >= 10, value != 0))), "all comparisons answer for one value"
assert uploaded < 4 and uploaded > 2.5 and not uploaded >= 4
assert torch.equal(x.sum(), x.mean()) and torch.equal(x.half().sum(), x.half().mean()), "two values that kernels computed are equal"
assert all((row == 0).all() for row in torch.arange(8).cuda().add(1).split(1)), "wherever they lie"
assert not torch.equal(uploaded, torch.tensor(2).cuda()), "uploaded values are compared by what they are"
assert torch.isfinite(x.sum()) and torch.linalg.eig(x[:1, :1])[0].numel() == 1, "a computed value is finite"
assert torch.istft(torch.stft(torch.randn(64).cuda(), 16, return_complex=True), 16).numel() == 64, "no condition for refusing holds"
weights, lengths = torch.rand(8).cuda(), torch.tensor([3, 5]).cuda()
if tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 15):  # seen with this release
    assert torch.cov(x, aweights=weights).numel() == 64, "computed weights are not negative, and do not sum to 0"
    assert torch.segment_reduce(x[0], "sum", lengths=lengths).numel() == 2, "computed lengths sum to what they have to"
    assert torch.linalg.eig(x[:0, :0])[0].numel() == 0, "all of nothing are finite"
    assert not bool(torch.tensor([4.0]).cuda().eq(3).all()), "what was uploaded is compared by what it is"
"""

    def test_the_lines_that_read_what_a_kernel_computes_are_named(self) -> None:
        for python in self.for_each_python():
            program = self.folder / "program.py"
            program.write_text(self.PROGRAM, encoding="utf-8")
            reads = self.answer("--gpu", "t4", command=[python, str(program)])["data_reads"]
            found = {(read["decides"], read["line"]): read["count"] for read in reads if read["file"] == str(program) and read["line"] <= 12}
            self.assertEqual(found.pop(("sizes", 6)), 3)
            self.assertEqual(found.pop(("sizes", 10)), 1)
            found.pop(("unknown", 12))
            self.assertEqual(set(found), {("unknown", 7), ("unknown", 9)}, "and not line 8, which reads what was uploaded")

    MASKS = """
import torch
w = torch.nn.Linear(64, 64).cuda(); optimizer = torch.optim.SGD(w.parameters(), lr=0.1)
edges, x = torch.arange(200_000).view(2, -1).cuda() % 1000, torch.randn(1000, 64, device="cuda")
for step in range(4):
    kept = edges[:, torch.rand(100_000, device="cuda") > 0.5]
    print("kept", kept.shape[1], "known", int((edges == 3).sum()), flush=True)
    w(x)[kept[0]].sum().backward(); optimizer.step(); optimizer.zero_grad()
"""

    def test_the_trace_of_a_command_that_runs_again_is_that_of_the_last_run(self) -> None:
        program = ("import torch; counts = torch.bincount(torch.arange(4).cuda(), minlength=8).tolist()\n"
                   "assert counts[0] == 1, counts\nprint('counted', len(torch.empty(sum(counts) << 20, device='cuda')))")
        trace = self.folder / "again.vms"
        done = self.dryrun("--gpu", "t4", "-o", str(trace), command=[recorded_run.python(), "-c", program])
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertIn(b"counted 4194304\n", done.stdout)
        self.assertEqual([file.name for file in self.folder.glob("*.vms")], ["again.vms"])
        self.assertEqual(recorded_run.ask("report", str(trace), "--device", "cuda:0")["peak"]["allocated_bytes"] >> 20, 16)

    def test_a_change_is_tried_where_counts_must_be_computed(self) -> None:
        program = ("import torch; m = torch.nn.Linear(64, 64).cuda(); o = torch.optim.SGD(m.parameters(), lr=0.1)\n"
                   "for step in range(3):\n  counts = torch.bincount(torch.arange(4).cuda(), minlength=8).tolist()\n"
                   "  assert counts[0] == 1, counts\n  m(torch.ones(sum(counts), 64).cuda()).sum().backward(); o.step(); o.zero_grad()")
        done = recorded_run.run([recorded_run.vramscope(), "try", "--dry", "--gpu", "t4", "--empty-cache", "after-step", "--",
                                 recorded_run.python(), "-c", program])
        self.assertEqual(done.code, 0, done.stderr.decode())

    def test_masks_of_computed_values_give_both_bounds(self) -> None:
        program = self.folder / "masks.py"
        program.write_text(self.MASKS, encoding="utf-8")
        command = [recorded_run.python(), str(program)]
        answer = self.answer("--gpu", "t4", command=command)
        upper, messages = answer["upper_bound"], 100_000 * 64 * 4
        self.assertEqual((answer["fits"], answer["assumed"], upper["fits"], upper["assumed"]["masks"]), (True, None, True, 1))
        self.assertGreater(upper["peak"]["allocated_bytes"], messages)
        self.assertLess(answer["peak"]["allocated_bytes"], messages)
        one = self.dryrun("--gpu", "t4", "--masks", "0.25", command=command)
        self.assertIn(b"kept 25000 known 200\n", one.stdout, one.stderr.decode())
        self.assertIn(b"masks of computed values select 25 % of the elements", one.stdout)
        room = answer["peak"]["device_used_bytes"] + upper["peak"]["device_used_bytes"] >> 21
        undecided = self.dryrun("--gpu", "t4", "--capacity", f"{room}MiB", command=command)
        self.assertEqual(undecided.code, 3, undecided.stdout.decode())
        self.assertIn(b"depends on the data", undecided.stdout)

    def test_several_runs_answer_by_the_upper_bound(self) -> None:
        program = self.folder / "masks.py"
        program.write_text(self.MASKS, encoding="utf-8")
        command, messages = [recorded_run.python(), str(program)], 100_000 * 64 * 4
        batches = self.answer("--gpu", "t4", "--batch", "1..2", command=[*command, "{batch}"])
        self.assertEqual(batches["assumed"]["masks"], 1)
        self.assertTrue(all(row["peak"]["allocated_bytes"] > messages for row in batches["batches"]), batches)
        shuffled = self.dryrun("--gpu", "t4", "--shuffles", "2", "--steps", "2", command=command)
        self.assertIn(b"upper bounds", shuffled.stdout, shuffled.stderr.decode())
        lower = self.answer("--gpu", "t4", "--masks", "none", "--batch", "1..2", command=[*command, "{batch}"])
        self.assertTrue(all(row["peak"]["allocated_bytes"] < messages for row in lower["batches"]), lower)

    def test_a_loop_that_waits_for_convergence_is_ended_and_named(self) -> None:
        program = self.folder / "waits.py"
        program.write_text("import torch\nx = torch.randn(8, 8).cuda()\nwhile not torch.isnan(x.sum()):\n    pass\n", encoding="utf-8")
        done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), str(program)])
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertIn(f"The run ended at {program}:3, a loop that waits for a value".encode(), done.stdout)

    def test_the_text_says_it(self) -> None:
        places = {"TMPDIR": self.folder / "tmp", "HOME": self.folder / "home"}
        for place in places.values():
            place.mkdir()
        with mock.patch.dict(os.environ, {variable: str(place) for variable, place in places.items()}):
            done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), "-c", "import torch; torch.nonzero(torch.ones(4).cuda())"])
        self.assertIn(b"At these places, the run's memory depends on data; the results are assumed to be empty:\n  <string>:1  1 time\n", done.stdout)
        self.assertEqual([*places["TMPDIR"].iterdir(), *places["HOME"].iterdir()], [], "nothing is left behind")

    EXPERTS = """
import torch, torch.distributed as dist
dist.init_process_group("nccl")
world, tokens, width = dist.get_world_size(), 4096, 64
gate = torch.nn.Linear(width, 2 * world).cuda(); optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(tokens, width).cuda()
    chosen = gate(x).argmax(-1)
    counts = torch.bincount(chosen, minlength=2 * world).view(world, 2).sum(1)
    theirs = torch.empty_like(counts); dist.all_to_all_single(theirs, counts)
    sent, received = counts.tolist(), theirs.tolist()
    got = x.new_empty(sum(received), width); dist.all_to_all_single(got, x[chosen.argsort()], received, sent)
    print("received", sum(received), flush=True)
    gate(got).sum().backward(); optimizer.step(); optimizer.zero_grad()
"""

    def test_experts_get_as_many_tokens_each_or_one_gets_all(self) -> None:
        program = self.folder / "experts.py"
        program.write_text(self.EXPERTS, encoding="utf-8")
        for rank, options, received in ((0, [], 4096), (0, ["--routing", "worst"], 4 * 4096), (3, ["--routing", "worst"], 0)):
            place = ["--gpu", "h100-80gb", "--world-size", "4", "--rank", str(rank), *options]
            done = self.dryrun(*place, "--json", command=[recorded_run.python(), str(program)])
            self.assertEqual(done.code, 0, done.stderr.decode())
            self.assertIn(f"received {received}\n".encode(), done.stderr)
            self.assertEqual(json.loads(done.stdout)["assumed"]["routing"], options[-1] if options else "balanced")


if __name__ == "__main__":
    recorded_run.main()
