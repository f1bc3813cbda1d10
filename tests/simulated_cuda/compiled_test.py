# SPDX-License-Identifier: Apache-2.0
"""torch.compile on the device: memory is what inductor plans, and no file is left behind. Needs Triton, which is a wheel of its own."""
import json
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402

PROGRAM = str(Path(__file__).resolve().parent / "compiled.py")


def files(folder: Path) -> List[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


class Compiled(recorded_run.RecordingTest):
    def test_compiled_programs_run_and_leave_nothing(self) -> None:
        """One process for all: importing inductor takes longer than compiling."""
        python = recorded_run.python()
        if not recorded_run.has_package(python, "triton"):
            self.skipTest(f"{python} has no Triton: scripts/setup.sh --triton")
        output, home, temporary, cache = (self.folder / name for name in ("facts.json", "home", "temporary", "cache"))
        for folder in (home, temporary, cache):
            folder.mkdir()
        environment = recorded_run.clean_environment(
            HOME=str(home), XDG_CACHE_HOME=str(home / ".cache"), TMPDIR=str(temporary), TORCHINDUCTOR_CACHE_DIR=str(cache),
            TRITON_CACHE_DIR=str(cache), TORCHINDUCTOR_COMPILE_THREADS="1")
        command = [recorded_run.vramscope(), "dryrun", "--gpu", "h100-80gb", "--steps", "all", "--json", "--", python, PROGRAM, str(output)]
        done = recorded_run.run(command, timeout=600, env=environment)
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.check(json.loads(output.read_text(encoding="utf-8")))
        left = [name for folder in (temporary, cache) for name in files(folder)]
        self.assertEqual(left, [], "code that no GPU could run must not outlive the dry run")
        self.assertEqual([name for name in files(home) if not name.startswith(".cache/vramscope/")], [])
        answer = json.loads(done.stdout)
        self.assertEqual(answer["data_reads"], [], "what the compiler asks is no affair of the program's")

    def check(self, facts: Dict[str, Any]) -> None:
        chain = facts["chain"]
        self.assertEqual((chain["compiled"], chain["eager"]), (chain["bytes"], 2 * chain["bytes"] + 512), "one kernel needs no room between")
        self.assertTrue(chain["constant"], "inductor worked out sqrt(4) + 1")
        self.assertEqual(facts["training"], {"private_pools": 1, "graphs_broken": 0}, "forward and backward share the pool of their graphs")
        self.assertIn("needs a C compiler", facts["without_compiler"])
        self.assertIn("Python.h", facts["without_compiler"])


if __name__ == "__main__":
    recorded_run.main()
