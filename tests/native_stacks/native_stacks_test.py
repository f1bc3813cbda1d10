# SPDX-License-Identifier: Apache-2.0
"""Native stacks of a C++ program whose functions are only in its own symbol table. The oracle is binutils: `nm` shows where the functions
are and that the program exports none of them, and `strip` removes their names."""
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, ask, run, target, vramscope  # noqa: E402

BLOCKS = 3
BYTES = BLOCKS << 20
SHOWN = "(anonymous namespace)::Pool::Take"
TAKE, FILL = "(anonymous namespace)::Pool::Take(unsigned long)", "fill_the_pool((anonymous namespace)::Pool&, int)"


def symbols(program: Path, *options: str) -> str:
    return subprocess.run(["nm", "-C", *options, str(program)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


class NativeStacks(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.program, self.trace = self.folder / "static_names", self.folder / "run.vms"
        shutil.copy(target("static_names"), self.program)
        if not shutil.which("nm") or not shutil.which("strip"):
            self.skipTest("there are no binutils here")
        for name in ("Pool::Take(unsigned long)", "fill_the_pool("):
            self.assertIn(name, symbols(self.program))
            self.assertNotIn(name, symbols(self.program, "-D"))
        done = recorded_run.record(self.trace, [str(self.program), str(BLOCKS)], ["--depth", "all", "--stacks", "native"])
        self.assertEqual(done.code, 0, done.stderr.decode())

    def stack_owners(self) -> List[Dict[str, Any]]:
        return [owner for owner in ask("report", str(self.trace))["owners"] if owner["kind"] == "stack"]

    def exported(self, name: str) -> str:
        file = self.folder / name
        self.assertEqual(run([vramscope(), "convert", str(self.trace), str(file)]).code, 0)
        return file.read_text(encoding="utf-8")

    def test_report_and_export_name_functions_that_the_program_does_not_export(self) -> None:
        owners = self.stack_owners()
        self.assertEqual([owner["bytes"] for owner in owners], [BYTES])
        self.assertEqual(owners[0]["name"], SHOWN)
        frames = [re.sub(r"( \[clone .*\])? \(static_names\+0x.*", "", frame) for frame in owners[0]["frames"]]
        self.assertEqual(frames[-3:], ["main", FILL, TAKE])
        self.assertIn(SHOWN, run([vramscope(), "report", str(self.trace)]).stdout.decode())
        self.assertEqual(self.exported("run.csv").count(SHOWN), BLOCKS)
        folded = [line for line in self.exported("run.folded").splitlines() if TAKE in line]
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded), BYTES)
        self.assertLess(folded[0].index(FILL), folded[0].index(TAKE), "callers first")

    def test_a_program_without_names_is_shown_by_its_places(self) -> None:
        subprocess.run(["strip", str(self.program)], check=True)
        self.assertRegex(self.stack_owners()[0]["name"], r"static_names\+0x[0-9a-f]+")
        self.assertNotIn("Pool", self.exported("run.csv"))

    def test_another_build_at_the_same_path_gives_no_names(self) -> None:
        shutil.copy(vramscope(), self.program)
        self.assertRegex(self.stack_owners()[0]["name"], r"^static_names\+0x[0-9a-f]+")


if __name__ == "__main__":
    recorded_run.main()
