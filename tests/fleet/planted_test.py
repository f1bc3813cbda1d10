# SPDX-License-Identifier: Apache-2.0
"""Eight ranks that torchrun starts, each with its own fault: `fleet` names them from one trace, and from PyTorch's own snapshots as far as these know.
The oracle is planted.py. And black boxes: if one rank runs out of memory, all of them write the same steps."""
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

    def job(self, *words: str) -> Path:
        """All ranks in one trace, on simulated GPUs."""
        trace = self.folder / "run.vms"
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--quiet", "--gpu", f"h100-80gb:{RANKS}", "--steps", "all", "-o", str(trace), "--",
                                 *torchrun(PROGRAM, *words)])
        self.assertEqual(done.code, 0, done.stderr.decode())
        return trace


@unittest.skipUnless(drawn.EVERY, "a job of eight processes; VRAMSCOPE_TEST_EVERY=1 runs it")
class PlantedTest(RanksTest):
    def test_simulated_gpus_in_one_trace_and_in_snapshots(self) -> None:
        snapshots = self.folder / "snapshots"
        snapshots.mkdir()
        found = self.found(self.job("cuda", "none", str(snapshots)))
        self.assert_faults_of_all_devices(found)
        self.finding(found, "fragmentation", FRAGMENTED)
        self.finding(found, "elsewhere", CONTEXT)
        # A snapshot knows no stages, steps or processes. Ranks of both stages are peers then, so that only what exceeds both stands out.
        self.assertIn(FRAGMENTED, self.ranks(self.found(snapshots), "fragmentation"))


@drawn.whole(3)
class BlackBoxesTest(RanksTest):
    RANKS = 4

    def test_all_ranks_write_the_steps_before_one_ran_out_of_memory(self) -> None:
        """With a recorder for each rank. The others wait for the one that fails, in the same step."""
        fails, kept = self.RANKS - 2, 2
        job = self.folder / "job"
        job.mkdir()
        record = recorded_run.record_command(job / "%r.vms", [recorded_run.python(), PROGRAM, "cpu", "out_of_memory"], ["--black-box", str(kept)])
        done = recorded_run.run(torchrun("--no-python", *record, ranks=self.RANKS))
        self.assertNotEqual(done.code, 0)
        files = {rank: job / f"{rank}.vms" for rank in range(self.RANKS)}
        self.assertEqual({rank for rank, file in files.items() if file.exists()}, set(files), done.stderr.decode())
        facts = {rank: recorded_run.ask("info", str(file))["metadata"] for rank, file in files.items()}
        self.assertEqual({rank: fact["black_box.steps_before"] for rank, fact in facts.items()}, {rank: str(FAILS_IN - 1 - kept) for rank in files})
        for rank in recorded_run.ask("fleet", *map(str, files.values()))["ranks"]:
            self.assertEqual(len(rank["steps"]), kept, rank["rank"])
        because = {rank: fact["black_box.written_because"] for rank, fact in facts.items()}
        self.assertEqual(because.pop(fails), "out of memory")
        self.assertEqual(set(because.values()), {"another rank of the job ran out of memory"})


if __name__ == "__main__":
    recorded_run.main()
