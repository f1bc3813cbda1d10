#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The view of a job's ranks: eight traces, seven with a planted fault (tests/fleet/make_job.cc), compared with the answers of `vramscope fleet`."""
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run  # noqa: E402
from viewing import TRAINING, VRAMSCOPE, ViewerTest, picture  # noqa: E402


def without_sizes(text: str) -> str:
    """The viewer shows three digits of a size, the command a tenth of its unit."""
    return re.sub(r"[\d.,]+ (?=[KMG]iB)", "# ", text)


class RanksOfAJob(ViewerTest):
    def job(self) -> List[str]:
        os.mkdir(self.path("job"))
        subprocess.run([recorded_run.target("make_job"), self.path("job"), "8", "10"], check=True)
        return [self.path(f"job/rank{rank}.vms") for rank in range(8)]

    def state(self, name: str) -> Any:
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def test_the_heat_map_names_who_stands_out_and_leads_to_the_step(self) -> None:
        files = self.job()
        self.run_script([
            "wait loaded", "click tab.ranks", "wait answered", "expect tab = ranks", "expect ranks.rows = 8",
            "state " + self.path("found.json"),
            "expect ranks.reasons.1 ~ since step 5", "expect ranks.reasons.1 ~ model.py:88",
            # Ten columns, one for each step: the seventh of rank 1.
            "move ranks.row.1 0.65 0.5", "expect ranks.hover ~ rank 1, step 7: peak", "expect ranks.hover ~ above the median of its peers",
            "expect ranks.hover ~ since step 5",
            "click ranks.row.1 0.65 0.5", "expect tab = ranks", "expect link ~ rank1.vms", "expect moment_text ~ step 7",
            # Rank 6 ran out of memory in step 7, so nothing is known of step 9.
            "move ranks.row.6 0.85 0.5", "expect ranks.hover = rank 6, step 9: not recorded.", "click ranks.row.6 0.85 0.5", "expect link ~ rank1.vms",
            "click ranks.row.3 0.05 0.5", "expect link ~ rank3.vms", "expect moment_text ~ step 1",
            "click back", "expect link ~ rank1.vms", "expect moment_text ~ step 7",
            # The other views follow, and the table can be copied.
            "key ctrl+c", "expect said = table copied", "expect copied ~ rank,host,device", "expect view_rows = 9",
            "click tab.timeline", "expect moment_text ~ step 7", "click tab.ranks", "wait answered",
            "click theme", "shot " + self.path("ranks.png"),
        ], *files)
        found = self.state("found.json")["ranks"]
        told = json.loads(subprocess.run([VRAMSCOPE, "fleet", "--json", self.path("job")], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual([without_sizes(text) for text in found["findings"]], [without_sizes(finding["text"]) for finding in told["findings"]])
        marked = {rank for finding in told["findings"] for rank in finding["ranks"]}
        self.assertEqual({rank for rank, reason in enumerate(found["reasons"]) if reason}, marked)
        self.assertGreater(len(set(picture(self.path("ranks.png"))[2])), 100, "nothing is drawn")

    def test_a_finding_leads_to_its_rank_and_the_step_where_it_begins(self) -> None:
        files = self.job()
        told = json.loads(subprocess.run([VRAMSCOPE, "fleet", "--json", self.path("job")], stdout=subprocess.PIPE, check=True).stdout)
        number = next(i for i, finding in enumerate(told["findings"]) if finding["kind"] == "memory")
        self.run_script(["wait loaded", "click file.0", "click tab.ranks", "wait answered", f"click ranks.finding.{number}", "expect link ~ rank1.vms",
                         "expect moment_text ~ step 5", "expect tab = ranks"], *files)

    def test_nothing_is_cut_in_the_window_of_a_phone(self) -> None:
        self.expect_nothing_cut({"ranks": ["expect ranks.rows = 8"]}, *self.job())

    def test_one_rank_is_no_job(self) -> None:
        self.run_script(["click tab.ranks", "wait answered", "expect ranks.rows = 1", "shot " + self.path("one.png")], TRAINING)


if __name__ == "__main__":
    unittest.main(verbosity=2)
