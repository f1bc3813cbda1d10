# SPDX-License-Identifier: Apache-2.0
"""Which rank, device and moment the verbs report on, in one recording of two ranks of which one leaks and then runs out of memory. The oracle is the
program, two_ranks.py."""
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import RecordingTest, python

PROGRAM = Path(__file__).resolve().parent / "two_ranks.py"
FAIL = 1
KEPT_BYTES = 65536 * 4


class TwoRanks(RecordingTest):
    def ask(self, *arguments: str, code: int = 0) -> Any:
        done = recorded_run.run([recorded_run.vramscope(), *arguments, "--json"])
        self.assertEqual(done.code, code, f"{arguments}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def test_each_verb_says_which_rank_it_speaks_of(self) -> None:
        trace = str(self.folder / "ranks.vms")
        environment = recorded_run.clean_environment()
        environment.pop("RANK", None)
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--gpu", "h100-80gb:2", "--steps", "all", "-o", trace, "--", python(), str(PROGRAM)],
                                env=environment)
        self.assertEqual(done.code, FAIL, done.stderr.decode())
        try:
            self.assertEqual(self.ask("info", trace)["dropped_events"], 0, "figures are exact only if nothing was lost")
            self.all_verbs(trace)
        except AssertionError as failure:
            kept = shutil.copy(trace, tempfile.mkdtemp(prefix="vramscope-failed-"))
            raise AssertionError(f"{failure}\nThe trace of this failure is kept: {kept}") from failure

    def all_verbs(self, trace: str) -> None:
        judged = self.ask("check", trace, "--no-leak-per-step", "--peak-below", "1TiB", code=FAIL)
        peak, growth = judged["rules"]
        self.assertEqual((growth["result"], growth["rank"], growth["measured_bytes"], growth["judged"], growth["broken"]), ("fail", 1, KEPT_BYTES, 2, 1))
        self.assertEqual(peak["result"], "not_judged", "what the run that failed would have taken is not known")
        self.assertEqual({device["rank"]: device["failed"] is not None for device in judged["devices"]}, {0: False, 1: True})
        self.assertEqual(self.ask("check", trace, "--rank", "0", "--peak-below", "1B", code=FAIL)["rules"][0]["rank"], 0)

        leaks = self.ask("leaks", trace)
        self.assertEqual((leaks["rank"], leaks["device"], leaks["leaks"][0]["bytes_per_step"]), (1, "cuda:1", KEPT_BYTES))
        self.assertEqual([device["leaks"] for device in leaks["devices"] if device["rank"] == 0], [[]])

        self.failure(trace)
        for rank in ("0", "1"):
            self.one_rank(trace, rank)
        self.several_ranks(trace)

    def several_ranks(self, trace: str) -> None:
        """The rank of each process is known, and one call can ask about several."""
        ranks = {process["rank"]: process for process in self.ask("info", trace)["processes"] if process["rank"] is not None}
        self.assertEqual(sorted(ranks), [0, 1])
        for rank in (0, 1):
            self.assertEqual((ranks[rank]["world_size"], ranks[rank]["host"], ranks[rank]["environment"]["RANK"]), (2, os.uname().nodename, str(rank)))
        several = self.ask("report", trace, "--rank", "all")["ranks"]
        self.assertEqual([answer["selection"]["rank"] for answer in several], [0, 1])
        self.assertEqual(several[1], self.ask("report", f"{trace}@rank:1"))
        self.assertEqual(self.ask("report", trace, "--rank", "worst"), self.ask("report", trace))
        sides = self.ask("diff", f"{trace}@rank:0", f"{trace}@rank:1")
        self.assertEqual((sides["before"]["rank"], sides["after"]["rank"]), (0, 1))
        self.assertLess(sides["change_bytes"], 0)
        for wrong in (("report", trace, "--rank", "2..5"), ("report", trace, "--rank", "many"), ("report", f"{trace}@rank:1", "--rank", "1")):
            self.assertEqual(recorded_run.run([recorded_run.vramscope(), *wrong]).code, 2, wrong)
        job = self.ask("fleet", trace)
        self.assertEqual([(rank["rank"], rank["ending"]) for rank in job["ranks"]], [(0, "finished"), (1, "out_of_memory")])

    def failure(self, trace: str) -> None:
        """The run ended on cuda:1 of rank 1, though rank 0 is fuller."""
        autopsy = self.ask("oom", trace)
        self.assertEqual((autopsy["rank"], autopsy["device"], autopsy["failures"]), (1, "cuda:1", 1))
        report = self.ask("report", trace, "--at", "oom")
        self.assertEqual((report["selection"]["rank"], report["selection"]["device"], report["selection"]["others"]), (1, "cuda:1", 1))
        at = f"event:{report['moments'][0]['trace_event']}"
        for moment in ("oom", at):
            self.assertEqual(self.ask("frag", trace, "--at", moment)["allocated_bytes"], report["moments"][0]["allocated_bytes"], moment)
        self.assertIn("failed and ended the run", report["failed"])

    def one_rank(self, trace: str, rank: str) -> None:
        replayed = self.ask("replay", trace, "--rank", rank)
        self.assertEqual((replayed["rank"], replayed["events_exact"]), (int(rank), replayed["events_total"]), replayed["first_divergence"])
        moments = ("peak", "reserved", "step:3", "end")
        asked = [word for moment in moments for word in ("--at", moment)]
        layout = self.ask("frag", trace, "--rank", rank, *asked)
        report = self.ask("report", trace, "--rank", rank, *asked)
        self.assertEqual(sum(count for key, count in layout["troubles"].items() if key != "first_event"), 0)
        self.assertEqual(report["selection"]["device"], f"cuda:{rank}")
        for expected, found in zip(report["moments"], layout["moments"]):
            self.assertEqual(self.bytes_of(found), self.bytes_of(expected), expected["at"])
        sides = self.ask("diff", trace, trace, "--rank", rank)
        self.assertEqual((sides["before"]["rank"], sides["after"]["rank"], sides["change_bytes"]), (int(rank), int(rank), 0))

    @staticmethod
    def bytes_of(moment: Any) -> Tuple[int, int]:
        return moment["allocated_bytes"], moment["reserved_bytes"]


if __name__ == "__main__":
    recorded_run.main()
