# SPDX-License-Identifier: Apache-2.0
"""Eight ranks that torchrun starts, each with its own fault: `fleet` names them from one trace, and from PyTorch's own snapshots as far as these know.
The oracle is planted.py. Without a launcher, ranks come from the process group. If one rank runs out of memory, black boxes write the same steps."""
import json
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Set

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import drawn
import recorded_run

PROGRAM = str(Path(__file__).with_name("planted.py"))
RANKS = 8
LONG_BATCH, LEAK, CONTEXT, LATE, FRAGMENTED = 1, 2, 3, 4, 5
FAILS = RANKS - 2
LONG_SINCE, FAILS_IN = 3, 7
LEAKED_BYTES = 1 << 20
STAGE_1 = [1, 3, 5, 7]


def torchrun(*command: str, ranks: int = RANKS) -> List[str]:
    return [recorded_run.python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), *command]


class RanksTest(recorded_run.RecordingTest):
    def found(self, *files: Path) -> Dict[str, List[Any]]:
        kinds: Dict[str, List[Any]] = {}
        for finding in recorded_run.ask("fleet", *map(str, files))["findings"]:
            kinds.setdefault(finding["kind"], []).append(finding)
        return kinds

    def ranks(self, found: Dict[str, List[Any]], kind: str) -> Set[int]:
        return {rank for finding in found.get(kind, []) for rank in finding["ranks"]}

    def finding(self, found: Dict[str, List[Any]], kind: str, rank: int) -> Any:
        matching = [finding for finding in found.get(kind, []) if finding["ranks"] == [rank]]
        self.assertEqual(len(matching), 1, f"{kind} of rank {rank}: {json.dumps(found, indent=1)}")
        return matching[0]

    def assert_faults_of_all_devices(self, found: Dict[str, List[Any]]) -> None:
        memory = self.finding(found, "memory", LONG_BATCH)
        self.assertEqual((memory["category"], memory["since_step"]), ("activation", LONG_SINCE), memory)
        self.assertEqual(self.finding(found, "growth", LEAK)["bytes"], LEAKED_BYTES)
        self.finding(found, "late", LATE)
        self.assertEqual(self.ranks(found, "imbalance"), set(STAGE_1))
        self.assertFalse(set(found) & {"dead", "out_of_memory", "missing"}, found)

    def assert_ending(self, found: Dict[str, List[Any]], ending: str) -> None:
        """One rank is the cause. The others were stopped by torchrun, or failed because they lost their peer."""
        cause = self.finding(found, "out_of_memory" if ending == "out_of_memory" else "dead", FAILS)
        self.assertIn({"out_of_memory": "1,024 TiB", "killed": "killed by signal 9 "}[ending], cause["text"])
        self.assertRegex(cause["text"], f"in step {FAILS_IN}|after step {FAILS_IN - 1}")  # in a snapshot, a step is known when it has ended
        self.assertFalse(self.ranks(found, "out_of_memory") - {FAILS}, found)
        self.assertFalse([other for other in found.get("dead", []) if other is not cause and "signal 9 " in other["text"]], found)

    def job(self, *words: str) -> Path:
        """All ranks in one trace, on simulated GPUs."""
        trace = self.folder / "run.vms"
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--quiet", "--gpu", f"h100-80gb:{RANKS}", "--steps", "all", "-o", str(trace), "--",
                                 *torchrun(PROGRAM, *words)])
        self.assertEqual(done.code == 0, "none" in words, done.stderr.decode())
        return trace

    def files(self, ending: str, *options: str, ranks: int = RANKS) -> Dict[int, Path]:
        """A recorder and a file for each of so many gloo ranks."""
        job = self.folder / "job"
        job.mkdir()
        record = recorded_run.record_command(job / "%r.vms", [recorded_run.python(), PROGRAM, "cpu", ending], options)
        done = recorded_run.run(torchrun("--no-python", *record, ranks=ranks))
        self.assertEqual(done.code == 0, ending == "none", done.stderr.decode())
        files = {rank: job / f"{rank}.vms" for rank in range(ranks)}
        self.assertEqual({rank for rank, file in files.items() if file.exists()}, set(files), done.stderr.decode())
        return files


@drawn.share(3)
@unittest.skipUnless(drawn.EVERY, "a job of eight processes; VRAMSCOPE_TEST_EVERY=1 runs it")
class PlantedTest(RanksTest):
    def test_simulated_gpus_in_one_trace_and_in_snapshots(self) -> None:
        snapshots = self.folder / "snapshots"
        snapshots.mkdir()
        found = self.found(self.job("cuda", "none", str(snapshots)))
        self.assert_faults_of_all_devices(found)
        self.finding(found, "fragmentation", FRAGMENTED)
        self.finding(found, "elsewhere", CONTEXT)
        # A snapshot has no categories and no mesh. Fleet finds the steps by the optimizer, and stages by the sizes of optimizer states.
        known = self.found(snapshots)
        self.assertEqual(self.finding(known, "memory", LONG_BATCH)["since_step"], LONG_SINCE)
        self.assertEqual(self.finding(known, "growth", LEAK)["bytes"], LEAKED_BYTES)
        self.finding(known, "late", LATE)
        self.finding(known, "fragmentation", FRAGMENTED)
        self.finding(known, "elsewhere", CONTEXT)
        self.assertEqual(self.ranks(known, "imbalance"), set(STAGE_1))
        self.assertFalse(set(known) & {"dead", "out_of_memory", "missing"}, known)

    def test_simulated_gpus_of_which_one_is_too_small(self) -> None:
        snapshots = self.folder / "snapshots"
        snapshots.mkdir()
        self.assert_ending(self.found(self.job("cuda", "out_of_memory", str(snapshots))), "out_of_memory")
        self.assert_ending(self.found(snapshots), "out_of_memory")

    def test_simulated_gpus_of_which_one_is_lost(self) -> None:
        self.assert_ending(self.found(self.job("cuda", "killed")), "killed")

    def test_gloo_ranks_in_files_of_their_own(self) -> None:
        self.assert_faults_of_all_devices(self.found(*self.files("none").values()))

    def test_a_gloo_rank_that_runs_out_of_memory(self) -> None:
        self.assert_ending(self.found(*self.files("out_of_memory").values()), "out_of_memory")

    def test_a_gloo_rank_that_is_killed(self) -> None:
        self.assert_ending(self.found(*self.files("killed").values()), "killed")


WITHOUT_LAUNCHER = """
import os, sys
import torch, torch.distributed as dist
rank = 0 if os.fork() else 1
dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=rank, world_size=2)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(8, 64)).sum().backward()
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
if rank == 0:
    os.wait()
"""


class WithoutLauncherTest(RanksTest):
    def test_ranks_are_those_of_the_process_group(self) -> None:
        """No process has a variable with its rank: Lightning's rank 0 has none either."""
        command = [recorded_run.python(), "-c", WITHOUT_LAUNCHER, str(self.folder / "store")]
        trace = str(self.recorded(command, ["--depth", "light", "--program", "off"]))
        known = [(process["rank"], process["world_size"]) for process in recorded_run.ask("info", trace)["processes"]]
        self.assertEqual(known, [(0, 2), (1, 2)])
        answer = recorded_run.ask("fleet", trace)
        self.assertEqual(([rank["rank"] for rank in answer["ranks"]], answer["missing"]), ([0, 1], []))
        self.assertEqual(recorded_run.ask("report", trace, "--rank", "1")["selection"]["rank"], 1)


@drawn.whole(3)
class BlackBoxesTest(RanksTest):
    RANKS = 4

    def test_all_ranks_write_the_steps_before_one_ran_out_of_memory(self) -> None:
        """Each rank has a recorder. The other ranks wait for the one that fails, in the same step."""
        fails, kept = self.RANKS - 2, 2
        files = self.files("out_of_memory", "--black-box", str(kept), ranks=self.RANKS)
        facts = {rank: recorded_run.ask("info", str(file))["metadata"] for rank, file in files.items()}
        self.assertEqual({rank: fact["black_box.steps_before"] for rank, fact in facts.items()}, {rank: str(FAILS_IN - 1 - kept) for rank in files})
        for rank in recorded_run.ask("fleet", *map(str, files.values()))["ranks"]:
            self.assertEqual(len(rank["steps"]), kept, rank["rank"])
        because = {rank: fact["black_box.written_because"] for rank, fact in facts.items()}
        self.assertEqual(because.pop(fails), "out of memory")
        self.assertEqual(set(because.values()), {"another rank of the job ran out of memory"})


if __name__ == "__main__":
    recorded_run.main()
