# SPDX-License-Identifier: Apache-2.0
"""`vramscope dryrun`: what it answers, when it ends a run, and which runs it makes."""
import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any, List, Sequence
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from device import DeviceTest  # noqa: E402

PACKED = Path(__file__).resolve().parent / "packed.py"
RANKS = str(Path(__file__).resolve().parent / "ranks.py")
TRAINERS = str(Path(__file__).resolve().parent / "trainers.py")


EVERY = ("above", "between", "below") if os.environ.get("VRAMSCOPE_TEST_EVERY") else ()
# A row of gpus.def, in the form of --gpu-file.
B300 = {"product": "NVIDIA B300 SXM6 AC", "compute_capability": "10.3", "multiprocessors": 148, "l2_cache_mib": 126, "shared_memory_kib": 228,
        "threads_per_multiprocessor": 2048, "blocks_per_multiprocessor": 32, "clock_mhz": 2032, "memory_clock_mhz": 3996, "bus_bits": 8192,
        "context_mib": 582}


class DryrunTest(DeviceTest):
    GPT = [str(recorded_run.SAMPLES / "gpt.py"), "--device", "cuda", "--steps", "3"]

    def dryrun(self, *options: str, command: List[str]) -> recorded_run.Finished:
        return recorded_run.run([recorded_run.vramscope(), "dryrun", "--depth", "light", *options, "--", *command], timeout=600)

    def answer(self, *options: str, command: List[str], code: int = 0) -> Any:
        done = self.dryrun("--json", *options, command=command)
        self.assertEqual(done.code, code, done.stderr.decode())
        return json.loads(done.stdout)


class Lines(DryrunTest):
    PROGRAM = """
import sys, torch
torch.save(torch.ones(1 << 20), sys.argv[1])
loaded = torch.load(sys.argv[1], map_location="cuda")
model = torch.nn.Linear(512, 512).cuda()
kept = [torch.zeros(1 << 19, device="cuda")]
"""

    def test_what_a_program_sets_up_has_a_line_also_where_no_operator_makes_it(self) -> None:
        for python in self.for_each_python():
            program = self.folder / "program.py"
            program.write_text(self.PROGRAM, encoding="utf-8")
            command = [recorded_run.vramscope(), "dryrun", "--gpu", "t4", "--json", "--", python, str(program), str(self.folder / "weights.pt")]
            done = recorded_run.run(command)
            self.assertEqual(done.code, 0, done.stderr.decode())
            lines = {owner["name"]: owner["bytes"] for owner in json.loads(done.stdout)["owners"] if owner["kind"] == "stack"}
            self.assertEqual(lines, {f"<module> ({program}:4)": 4 << 20, f"<module> ({program}:5)": (1 << 20) + 2048, f"<module> ({program}:6)": 2 << 20})


@drawn.share(5)
class Verdict(DryrunTest):
    def test_says_that_it_fits_and_what_it_takes(self) -> None:
        for python in self.for_each_python():
            done = self.dryrun("--gpu", "rtx-4090", "--json", command=[python, *self.GPT])
            self.assertEqual(done.code, 0, done.stderr.decode())
            answer = json.loads(done.stdout)
            self.assertEqual((answer["fits"], answer["gpu"], answer["shortfall_bytes"]), (True, "rtx-4090", 0))
            self.assertEqual(len(answer["steps"]), 3)
            self.assertEqual(answer["convolution_workspaces"], {"answered_by": None, "largest_bytes": 0}, "a GPT has none")
            self.assertGreater(answer["peak"]["categories"]["optimizer_state"], 0)
            rows = {row["call"]: row for row in answer["device_memory"]}
            self.assertEqual((rows["cudaMalloc"]["basis"], rows["context"]["basis"]), ("exact", "measured"))
            self.assertEqual((rows["context"]["peak_bytes"], rows["cudaMalloc"]["low_bytes"]), (412 << 20, rows["cudaMalloc"]["peak_bytes"]))
            self.assertLess(rows["context"]["low_bytes"], rows["context"]["peak_bytes"])
            self.assertEqual((rows["kernels"]["library"], rows["kernels"]["basis"]), ("libtorch_cuda.so", "modeled"))
            self.assertIn(rows["kernels"]["peak_bytes"], range(1 << 20, 64 << 20), "a few of 600 MiB")
            self.assertGreater(answer["peak"]["device_used_bytes"], answer["peak"]["reserved_bytes"])
            self.assertIn(b"step    3", done.stderr, "the command's own output")

    def test_workspaces_of_cublas_are_named_and_as_large_as_the_environment_says(self) -> None:
        for python in self.for_each_python():
            with mock.patch.dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:3"):
                peak = self.answer("--gpu", "rtx-4090", command=[python, *self.GPT])["peak"]
            self.assertIn(peak["categories"]["workspace"], (12 << 20, 24 << 20), "of one call, or of the threads of forward and backward")

    def test_says_that_it_does_not_fit(self) -> None:
        answer = self.answer("--gpu", "t4", "--capacity", "190MiB", command=[recorded_run.python(), *self.GPT], code=1)
        self.assertEqual((answer["fits"], answer["no_room_for"]), (False, None))
        self.assertGreater(answer["shortfall_bytes"], 0)

    def test_what_libraries_take_beside_pytorch_may_not_fit_either(self) -> None:
        for python in self.for_each_python():
            answer = self.answer("--gpu", "t4", "--capacity", "150MiB", command=[python, *self.GPT], code=1)
            self.assertEqual((answer["fits"], answer["no_room_for"], answer["out_of_memory"]), (False, "cublasCreate", []))
            self.assertGreater(answer["shortfall_bytes"], 0)

    def test_a_command_that_fails_is_not_judged_and_keeps_its_exit_code(self) -> None:
        """A command that dies from a signal passes on the signal."""
        for ends, code, signal, words in (("raise SystemExit(7)", 7, None, "the command failed with exit code 7"),
                                          ("import os; os.kill(os.getpid(), 15)", -15, 15, "the command was ended by signal 15 (Terminated)")):
            program = f"import torch; torch.ones(1).cuda(); {ends}"
            done = self.dryrun("--gpu", "t4", "--json", command=[recorded_run.python(), "-c", program])
            self.assertEqual(done.code, code, done.stderr.decode())
            answer = json.loads(done.stdout)
            self.assertEqual((answer["fits"], answer["not_judged_because"]), (None, words))
            self.assertEqual(answer["command_ended"], {"exit_code": code if signal is None else None, "signal": signal})
        done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), "-c", "raise SystemExit(7)"])
        self.assertEqual(done.code, 7)
        self.assertIn(b"the command failed with exit code 7, before it used the simulated GPU", done.stderr)

    def test_a_program_that_survives_lack_of_memory_fits(self) -> None:
        """It takes a smaller batch, as some programs do. A program that gives up after the error does not fit, even if it exits with 0."""
        program = ("import torch\np = torch.nn.Linear(1024, 1024, device='cuda'); o = torch.optim.SGD(p.parameters(), lr=0.1); batch = 1 << 20\n"
                   "for step in range(3):\n  try: p(torch.ones(batch, 1024, device='cuda')).sum().backward()\n"
                   "  except torch.OutOfMemoryError:\n    if %s: raise SystemExit\n    batch = 1024; continue\n  o.step(); o.zero_grad()\n")
        survives, gives_up = ([recorded_run.python(), "-c", program % how] for how in ("False", "True"))
        done = self.dryrun("--gpu", "t4", "--capacity", "1GiB", command=survives)
        self.assertEqual(done.code, 0, done.stdout.decode())
        self.assertIn(b"The command survived 1 out-of-memory error: the program caught it and continued; at most 2", done.stdout)
        answer = self.answer("--gpu", "t4", "--capacity", "1GiB", command=gives_up, code=1)
        self.assertEqual((answer["fits"], answer["survived_out_of_memory"]), (False, None))

    def test_programs_that_ask_nvidia_smi_are_answered_by_the_simulated_device(self) -> None:
        program = ("import subprocess, torch\nkept = torch.empty(1 << 30, dtype=torch.uint8, device='cuda:1')\n"
                   "ask = lambda *a: subprocess.run(['nvidia-smi', *a], capture_output=True, text=True)\n"
                   "free, total = torch.cuda.mem_get_info(1)\nused = ask('--query-gpu=index,memory.used,memory.total', '--format=csv,noheader,nounits')\n"
                   "assert used.stdout.splitlines()[1] == f'1, {total - free >> 20}, {total >> 20}', used.stdout\nassert 'simulated' in used.stderr\n"
                   "apps = ask('--query-compute-apps=pid,used_memory', '--format=csv', '-i', '1').stdout.splitlines()\nimport os\n"
                   "assert apps == ['pid, used_memory [MiB]', f'{os.getpid()}, {total - free >> 20} MiB'], apps\n"
                   "assert ask('-L').stdout.startswith('GPU 0: Tesla T4 (UUID: GPU-'), ask('-L')\nassert 'simulated by vramscope' in ask().stdout\n"
                   "assert ask('--query-gpu=nothing', '--format=csv').returncode == 2 and ask('--frobnicate').returncode == 2\n")
        done = self.dryrun("--gpu", "t4:2", command=[recorded_run.python(), "-c", program])
        self.assertEqual(done.code, 0, done.stderr.decode())

    def test_a_size_is_a_gpu(self) -> None:
        program = "import torch; print(torch.cuda.get_device_name(), torch.cuda.mem_get_info()[1])"
        done = self.dryrun("--gpu", "12GB:2", command=[recorded_run.python(), "-c", program])
        self.assertIn(b"NVIDIA GeForce RTX 3080 12000000000\n", done.stdout, done.stderr.decode())

    def test_a_gpu_can_be_described_in_a_file(self) -> None:
        file = self.folder / "my.json"
        gpu = {"name": "mine", "product": "NVIDIA Mine", "compute_capability": "8.6", "multiprocessors": 48, "memory_mib": 5000,
               "l2_cache_mib": 4, "shared_memory_kib": 100, "threads_per_multiprocessor": 1536, "blocks_per_multiprocessor": 16,
               "clock_mhz": 1560, "memory_clock_mhz": 7001, "bus_bits": 256, "context_mib": 200}
        file.write_text(json.dumps(gpu), encoding="utf-8")
        program = "import torch; p = torch.cuda.get_device_properties(0); print(p.name, p.multi_processor_count, *torch.cuda.mem_get_info())"
        done = self.dryrun("--gpu-file", str(file), command=[recorded_run.python(), "-c", program])
        self.assertIn(f"NVIDIA Mine 48 {4800 << 20} {5000 << 20}\nFits on mine (4.9 GiB): 200.0 MiB used".encode(), done.stdout, done.stderr.decode())
        file.write_text(json.dumps({**gpu, "memory_mib": "5 GB"}), encoding="utf-8")
        done = self.dryrun("--gpu-file", str(file), command=[recorded_run.python(), "-c", program])
        self.assertEqual((done.code, done.stderr.count(b"\n")), (2, 1), done.stderr.decode())

    def test_says_what_is_wrong_in_one_sentence(self) -> None:
        done = self.dryrun("--gpu", "h200x", command=[recorded_run.python(), "x.py"])
        self.assertEqual((done.code, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"did you mean h200", done.stderr)
        done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), "-c", "pass"])
        self.assertEqual(done.code, 3)
        self.assertIn(b"did not use the simulated GPU", done.stderr)


@drawn.share(5)
class Ending(DryrunTest):
    LONG = [str(recorded_run.SAMPLES / "gpt.py"), "--device", "cuda", "--steps", "40"]

    def test_a_run_ends_when_its_peak_no_longer_grows(self) -> None:
        python = recorded_run.python()
        early = self.answer("--gpu", "t4", command=[python, *self.LONG])
        whole = self.answer("--gpu", "t4", "--steps", "all", command=[python, *self.LONG[:-1], "9"])
        self.assertIn(early["stopped_after_step"], range(6, 9))
        self.assertEqual(len(early["steps"]), early["stopped_after_step"])
        self.assertIsNone(whole["stopped_after_step"])
        self.assertEqual(len(whole["steps"]), 9)
        for key in ("allocated_bytes", "reserved_bytes", "reserved_peak_bytes", "device_used_bytes"):
            self.assertEqual(early["peak"][key], whole["peak"][key], key)

    def test_a_program_of_a_few_steps_ends_by_itself(self) -> None:
        program = ("import torch; m = torch.nn.Linear(64, 64).cuda(); o = torch.optim.AdamW(m.parameters())\n"
                   "for step in range(5):\n  m(torch.ones(8, 64).cuda()).sum().backward(); o.step(); o.zero_grad()\n"
                   "print('trained 5 steps')")
        done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), "-c", program])
        self.assertEqual((done.code, done.stdout.splitlines()[0]), (0, b"trained 5 steps"), done.stderr.decode())

    def test_a_run_ends_after_the_steps_that_were_asked_for(self) -> None:
        for sample in ("gpt.py", "gan.py"):
            command = [recorded_run.python(), str(recorded_run.SAMPLES / sample), "--device", "cuda", "--steps", "40"]
            answer = self.answer("--gpu", "t4", "--steps", "2", command=command)
            self.assertEqual((answer["stopped_after_step"], len(answer["steps"])), (2, 2), sample)

    def test_an_optimizer_that_has_not_stepped_is_waited_for(self) -> None:
        program = ("import torch; a, b = (torch.nn.Linear(64, 64).cuda() for _ in range(2))\n"
                   "now, later = (torch.optim.AdamW(each.parameters()) for each in (a, b))\n"
                   "for step in range(8):\n  b(a(torch.ones(8, 64).cuda())).sum().backward(); now.step(); now.zero_grad()\n"
                   "print('trained 8 steps')")
        done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), "-c", program])
        self.assertEqual((done.code, done.stdout.splitlines()[0]), (0, b"trained 8 steps"), done.stderr.decode())

    def test_an_optimizer_around_another_one_is_not_waited_for(self) -> None:
        """Accelerate and Lightning wrap each optimizer in one that never makes a step of its own."""
        program = ("import torch; m = torch.nn.Linear(64, 64).cuda()\n"
                   "class Wrapped(torch.optim.Optimizer):\n"
                   "  def __init__(self, inner): self.inner = inner; self.param_groups = inner.param_groups\n"
                   "  def step(self, closure=None): self.inner.step(closure)\n"
                   "o = Wrapped(torch.optim.AdamW(m.parameters()))\n"
                   "while True: m(torch.ones(8, 64).cuda()).sum().backward(); o.step(); m.zero_grad()")
        answer = self.answer("--gpu", "t4", command=[recorded_run.python(), "-c", program])
        self.assertIn(answer["stopped_after_step"], range(6, 9))

    def test_an_optimizer_that_is_not_of_torch_optim_steps_between_batches(self) -> None:
        program = ("import torch; m = torch.nn.Linear(64, 64).cuda()\n"
                   "class Own:\n"
                   "  def __init__(self, parameters): self.parameters = list(parameters); self.state = {}\n"
                   "  def step(self):\n"
                   "    with torch.no_grad():\n"
                   "      for p in self.parameters: self.state.setdefault(p, torch.zeros_like(p)).lerp_(p.grad, 0.1); p -= self.state[p]\n"
                   "o = Own(m.parameters())\n"
                   "for batch in torch.utils.data.DataLoader(torch.ones(4000, 64), batch_size=8):\n"
                   "  m(batch.cuda()).sum().backward(); o.step(); m.zero_grad()")
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--json", "--gpu", "t4", "--", recorded_run.python(), "-c", program], timeout=600)
        self.assertEqual(done.code, 0, done.stderr.decode())
        answer = json.loads(done.stdout)
        self.assertIn(answer["stopped_after_step"], range(6, 9))
        deep = [step["deep"] for step in answer["steps"]]
        self.assertEqual((deep[:4], deep[-1]), ([True] * 4, False), "the first four are, and then it ends")

    def test_without_a_loader_each_backward_pass_of_an_own_optimizer_is_a_step(self) -> None:
        program = ("import torch; m = torch.nn.Linear(64, 64).cuda(); state = [torch.zeros_like(p) for p in m.parameters()]\n"
                   "for step in range(10):\n"
                   "  for micro_batch in range(2): m(torch.ones(8, 64).cuda()).sum().backward()\n"
                   "  with torch.no_grad():\n"
                   "    for p, kept in zip(m.parameters(), state): p -= kept.lerp_(p.grad, 0.1)\n"
                   "  m.zero_grad()")
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--json", "--gpu", "t4", "--", recorded_run.python(), "-c", program], timeout=600)
        self.assertEqual(done.code, 0, done.stderr.decode())
        answer = json.loads(done.stdout)
        self.assertEqual((answer["stopped_after_step"], len(answer["steps"])), (None, 20))
        self.assertEqual({step["deep"] for step in answer["steps"]}, {True})

    def test_the_program_ends_as_by_sys_exit(self) -> None:
        program = ("import atexit, torch; atexit.register(print, 'handler ran'); p = torch.nn.Linear(4, 4).cuda()\n"
                   "o = torch.optim.SGD(p.parameters(), lr=0.1)\n"
                   "try:\n  while True: p(torch.ones(1, 4).cuda()).sum().backward(); o.step()\n"
                   "except Exception: print('caught')\nfinally: print('finally ran')")
        done = self.dryrun("--gpu", "t4", command=[recorded_run.python(), "-c", program])
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertEqual(done.stdout.splitlines()[:2], [b"finally ran", b"handler ran"], "and nothing was caught")


class Weights(DryrunTest):
    PROGRAM = ("import torch; layer = torch.nn.Linear(2048, 2048); small = torch.nn.Linear(4, 4)\n"
               "print('large', bool(layer.weight.abs().sum()), 'small', bool(small.weight.abs().sum()), layer.cuda().weight.shape)")

    def test_large_weights_are_not_drawn_on_the_cpu_unless_asked(self) -> None:
        for python in self.for_each_python():
            done = self.dryrun("--gpu", "t4", command=[python, "-c", self.PROGRAM])
            self.assertIn(b"large False small True torch.Size([2048, 2048])", done.stdout, done.stderr.decode())
            done = self.dryrun("--gpu", "t4", "--keep-init", command=[python, "-c", self.PROGRAM])
            self.assertIn(b"large True small True", done.stdout, done.stderr.decode())


@drawn.share(5)
class Ranks(DryrunTest):
    """ranks.py reads its rank from torchrun's environment, as such programs do."""

    def peaks(self, kind: str, world: int, rank: int = 0) -> Any:
        options = ["--gpu", "h100-80gb", "--world-size", str(world), "--rank", str(rank)]
        return self.answer(*options, command=[recorded_run.python(), RANKS, kind])["peak"]

    def peak(self, kind: str, world: int, rank: int = 0) -> int:
        return self.peaks(kind, world, rank)["allocated_bytes"]

    def test_one_rank_of_many_runs_alone(self) -> None:
        replicated = {self.peak("ddp", 2), self.peak("ddp", 64, 63)}
        self.assertEqual(len(replicated), 1, "every rank of DDP has all of the model")
        parameters = 4 * 4 * (1024 * 1024 + 1024)
        saved = self.peak("fsdp2", 2) - self.peak("fsdp2", 64, 5)
        self.assertGreater(saved, 1.5 * parameters, "nearly half of parameters, gradients and two states")

    def test_other_ways_to_shard(self) -> None:
        whole = self.peak("ddp", 8)
        for kind in ("fsdp1", "zero1", "tensor_parallel"):
            self.assertLess(self.peak(kind, 8, 3), whole, kind)

    def test_a_stage_of_a_pipeline_keeps_its_own_micro_batches(self) -> None:
        """1F1B: the first of four stages has four micro-batches in flight, the last has one."""
        python = recorded_run.python()
        first, last = (self.answer("--gpu", "t4", "--world-size", "4", "--rank", str(rank), command=[python, TRAINERS, "pipeline_1f1b"])["peak"]
                       for rank in (0, 3))
        self.assertGreater(first["categories"]["activation"], 2 * last["categories"]["activation"])

    def test_a_rank_alone_takes_what_it_takes_among_others(self) -> None:
        torchrun = [recorded_run.python(), "-m", "torch.distributed.run", "--nproc-per-node", "2", RANKS]
        for kind in ("ddp", "fsdp2"):
            together = self.answer("--gpu", "h100-80gb:2", command=[*torchrun, kind])["peak"]
            alone = self.peaks(kind, 2)
            for key in ("allocated_bytes", "device_used_bytes"):
                self.assertEqual(together[key], alone[key], kind)
            self.assertGreater(alone["device_used_bytes"] - alone["reserved_peak_bytes"], (527 + 96 + 288 + 64) << 20, kind)

    def test_groups_that_are_split_off_are_as_large_as_pytorch_knows_them(self) -> None:
        program = ("import sys, torch, torch.distributed as dist\ndist.init_process_group('nccl', device_id=torch.device('cuda:0'))\n"
                   "if sys.argv[1] == 'new': group = dist.new_group([0, 1])\nelse: group = dist.split_group(split_ranks=[[0, 1], [2, 3, 4, 5]])\n"
                   "dist.all_reduce(torch.ones(1 << 20, device='cuda'), group=group)\ndist.destroy_process_group()")
        options = ["--gpu", "h100-80gb", "--world-size", "8", "--rank", "0"]
        for how in ("new", "split"):
            answer = self.answer(*options, command=[recorded_run.python(), "-c", program, how])
            rows = {row["call"]: row["peak_bytes"] >> 20 for row in answer["device_memory"]}
            self.assertEqual((rows["ring"], rows["NVLS"], rows["ncclKernels"]), (288, 64, 96), "nccl_memory.h: of two ranks, not of eight")
            self.assertNotIn("tree", rows, "two ranks have none")

    def test_ranks_that_are_all_there_find_the_members_of_a_group(self) -> None:
        program = self.folder / "groups.py"
        program.write_text("import os, torch, torch.distributed as dist\ndevice = torch.device('cuda', int(os.environ['LOCAL_RANK']))\n"
                           "dist.init_process_group('nccl', device_id=device)\nrank = dist.get_rank()\n"
                           "alone = dist.split_group(split_ranks=[[0], [1]]) if hasattr(dist, 'split_group') else dist.new_group([0])\n"
                           "both = dist.new_group([0, 1])\nfor group, size in ((alone, 1), (both, 2)):\n  out = torch.empty(8 * size, device=device)\n"
                           "  dist.all_gather_into_tensor(out, torch.ones(8, device=device), group=group)\n"
                           "  os.write(1, f'{rank} gathered {out.numel()}\\n'.encode())\ndist.destroy_process_group()\n",
                           encoding="utf-8")  # one write: ranks share a pipe
        torchrun = [recorded_run.python(), "-m", "torch.distributed.run", "--nproc-per-node", "2", str(program)]
        done = self.dryrun("--gpu", "h100-80gb:2", command=torchrun)
        self.assertEqual(done.code, 0, done.stderr.decode())
        lines = [line for line in done.stdout.decode().splitlines() if "gathered" in line]
        self.assertEqual(sorted(lines), ["0 gathered 16", "0 gathered 8", "1 gathered 16", "1 gathered 8"])

    def test_buffers_of_nccl_may_be_what_does_not_fit(self) -> None:
        answer = self.answer("--gpu", "h100-80gb", "--capacity", "900MiB", "--world-size", "8", command=[recorded_run.python(), RANKS, "ddp"], code=1)
        self.assertEqual((answer["fits"], answer["no_room_for"], answer["out_of_memory"]), (False, "ring", []))
        self.assertGreater(answer["shortfall_bytes"], 0)


@drawn.share(5)
class Series(DryrunTest):
    def test_all_gpus_are_answered_by_few_runs(self) -> None:
        answer = self.answer("--gpu", "all", command=[recorded_run.python(), *self.GPT])
        self.assertTrue(all(row["fits"] for row in answer["gpus"]))
        self.assertEqual([row["gpu"] for row in answer["gpus"] if row["answered_by"] == "run"], ["b300"])
        t4 = self.answer("--gpu", "t4", command=[recorded_run.python(), *self.GPT])["peak"]["device_used_bytes"]
        concluded = next(row["device_used_bytes"] for row in answer["gpus"] if row["gpu"] == "t4")
        self.assertLess(abs(concluded - t4), 64 << 20, "other GPUs differ by cuBLAS's workspaces")
        self.says_what_runs_say(self.GPT, answer["peak"], EVERY or ("between", "below"))

    @unittest.skipUnless(EVERY, "only with VRAMSCOPE_TEST_EVERY")
    def test_another_history_says_what_runs_say(self) -> None:
        command = [str(recorded_run.SAMPLES / "gan.py"), "--device", "cuda", "--steps", "3"]
        self.says_what_runs_say(command, self.answer("--gpu", "b300", command=[recorded_run.python(), *command])["peak"], EVERY)

    def says_what_runs_say(self, program: List[str], peak: Any, names: Sequence[str]) -> None:
        """Compares the answers of one run with a run on each of some described GPUs, which differ from the largest only in their memory: above the
        peak, between allocated and reserved, below allocated."""
        beside = peak["device_used_bytes"] - peak["reserved_peak_bytes"]
        sizes = {"above": peak["device_used_bytes"] >> 20, "between": beside + (peak["reserved_peak_bytes"] + peak["allocated_bytes"]) // 2 >> 20,
                 "below": (beside + peak["allocated_bytes"] >> 20) - 1}
        file = self.folder / "sizes.json"
        file.write_text(json.dumps([{**B300, "name": name, "memory_mib": sizes[name]} for name in names]), encoding="utf-8")
        command = [recorded_run.python(), *program]
        rows = {row["gpu"]: row for row in self.answer("--gpu", "all", "--gpu-file", str(file), command=command)["gpus"]}
        for name in names:
            self.assertNotEqual(rows[name]["answered_by"], "run", name)
            own = json.loads(self.dryrun("--gpu", name, "--gpu-file", str(file), "--json", command=command).stdout)
            self.assertEqual((rows[name]["fits"], rows[name]["retries"]), (own["fits"], own["retries"]), name)
            if own["fits"]:
                self.assertEqual(rows[name]["device_used_bytes"], own["peak"]["device_used_bytes"], name)

    def test_the_largest_batch_is_the_last_that_fits(self) -> None:
        command = [recorded_run.python(), *self.GPT, "--batch", "{batch}"]
        limited = ["--gpu", "t4", "--capacity", "264MiB"]
        answer = self.answer(*limited, "--batch", "28..34", command=command)
        largest = answer["largest_batch"]
        self.assertIn(largest, range(28, 34))
        for batch, code in ((largest, 0), (largest + 1, 1)):
            self.answer(*limited, command=[*command[:-1], str(batch)], code=code)

    def test_shuffles_tell_the_range_of_peaks(self) -> None:
        for ordered_by in ("sampler", "seed"):
            command = [recorded_run.python(), str(PACKED), ordered_by]
            runs = self.answer("--gpu", "t4", "--steps", "all", "--shuffles", "2", command=command)["shuffles"]
            self.assertEqual([run["order"] for run in runs], [0, 1])
            self.assertGreater(len({run["peak"]["allocated_bytes"] for run in runs}), 1, "how long the sentences are that meet in a batch")

    def test_where_shapes_do_not_vary_no_order_moves_the_peak(self) -> None:
        command = [recorded_run.python(), str(PACKED), "sampler", "--same-length"]
        done = self.dryrun("--gpu", "t4", "--steps", "4", "--shuffles", "2", command=command)
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertIn(b"No order changed the peak", done.stdout)

    def test_a_command_that_fails_leaves_a_series_without_a_verdict(self) -> None:
        program = "import torch; torch.ones(1).cuda(); print('bad news'); raise SystemExit(7)"
        done = self.dryrun("--gpu", "all", "--json", command=[recorded_run.python(), "-c", program])
        self.assertEqual(done.code, 3)
        self.assertIn(b"bad news", done.stderr)
        self.assertIn(b"The command could not be judged: the command failed with exit code 7", done.stderr)
        self.assertIsNone(json.loads(done.stdout)["fits"])


if __name__ == "__main__":
    recorded_run.main()
