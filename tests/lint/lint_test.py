# SPDX-License-Identifier: Apache-2.0
"""scripts/lint.sh names what is wrong: each rule is broken once in a small copy of the tree."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Tuple

ROOT = Path(__file__).resolve().parent.parent.parent
SPDX = "SPDX-License-Identifier: Apache-2.0\n"
COPIED = (".clang-format", "mypy.ini", "ruff.toml", "scripts/check_docs.py", "scripts/check_layers.py", "scripts/check_names.py", "scripts/commit-msg",
          "scripts/environment.sh", "scripts/lint.sh", "trace_format/bytes.h", "trace_format/result.h")
PACKAGES = ("injector/python/vramscope_core", "injector/python/vramscope_shim", "injector/python/vramscope_program", "injector/python/vramscope_try",
            "injector/python/vramscope_try_keras", "injector/python/vramscope_try_jax", "profiler/python/vramscope")
LONG = "Write a subject that has more characters than a terminal or a list can show"


class LintTest(unittest.TestCase):
    cache: Path  # mypy's, for all tests

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = Path(folder.name)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path in COPIED:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        for package in PACKAGES:
            self.write(f"{package}/__init__.py", f"# {SPDX}")
        (self.root / "build").mkdir()
        (self.root / "build/lint-venv").symlink_to(ROOT / "build/lint-venv")
        (self.root / "build/lint-cache").symlink_to(self.cache)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def lint(self, *arguments: str) -> Tuple[int, str]:
        done = subprocess.run([str(self.root / "scripts/lint.sh"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def assert_named(self, check: str, *parts: str) -> None:
        code, text = self.lint(check)
        self.assertEqual(code, 1, text)
        for part in (*parts, f"lint.sh: {check} FAILED", f"lint.sh: wrong: {check}"):
            self.assertIn(part, text)

    def git(self, *arguments: str) -> None:
        identity = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", "-c", "commit.gpgsign=false", *arguments], cwd=self.root, check=True, env={**os.environ, **identity}, capture_output=True)

    def test_a_clean_tree_passes_every_check(self) -> None:
        code, text = self.lint()
        self.assertEqual(code, 0, text)
        for check in ("format", "ruff", "types", "names", "layers", "docs", "commits"):
            self.assertRegex(text, rf"(?m)^lint\.sh: {check}: \d+\.\d s$")

    def test_a_wrong_format_is_named_and_corrected(self) -> None:
        self.write("trace_format/planted.h", f"// {SPDX}#pragma once\ninline int  Planted( int x ) {{ return x; }}\n")
        self.assert_named("format", "trace_format/planted.h:3: not formatted")
        self.assertEqual(self.lint("--fix", "format")[0], 0)
        self.assertIn("inline int Planted(int x) { return x; }\n", (self.root / "trace_format/planted.h").read_text())

    def test_an_unused_import_is_named(self) -> None:
        self.write("scripts/planted.py", f"# {SPDX}import os\n")
        self.assert_named("ruff", "scripts/planted.py:2:8: F401", "`os` imported but unused")

    def test_a_wrong_type_is_named(self) -> None:
        self.write("injector/python/vramscope_try/planted.py", f'# {SPDX}\n\ndef planted() -> int:\n    return "text"\n')
        self.assert_named("types", "injector/python/vramscope_try/planted.py:5: error: Incompatible return value type")

    def test_a_doubled_name_is_named(self) -> None:
        for name, member in (("first", "int a"), ("second", "long b")):
            self.write(f"profiler/{name}.cc", f"// {SPDX}namespace vramscope {{\nstruct Planted {{ {member}; }};\n}}\n")
        self.assert_named("names", "profiler/second.cc:3: vramscope::Planted is also defined in profiler/first.cc:3")

    def test_an_include_against_the_arrows_is_named(self) -> None:
        self.write("trace_format/planted.h", f'// {SPDX}#include "viewer/window.h"\n')
        self.assert_named("layers", "trace_format/planted.h:2: trace_format must not include viewer")

    def test_a_link_to_nowhere_is_named(self) -> None:
        self.write("docs/planted.md", "# Planted\n\nSee [the report](report.md).\n")
        self.assert_named("docs", "docs/planted.md:3: the link report.md leads to no file")

    def test_long_subjects_of_new_commits_fail_and_older_ones_are_counted(self) -> None:
        self.git("init", "--quiet")
        self.git("commit", "--quiet", "--allow-empty", "-m", "Begin")
        self.git("commit", "--quiet", "--allow-empty", "-m", LONG)
        self.git("add", "scripts")
        self.git("commit", "--quiet", "-m", "Add the hook")
        code, text = self.lint("commits")
        self.assertEqual(code, 0, text)
        self.assertIn("Warning: 1 older commits", text)
        self.git("commit", "--quiet", "--allow-empty", "-m", LONG)
        self.assert_named("commits", LONG)
        shutil.copy(self.root / "scripts/commit-msg", self.root / ".git/hooks/commit-msg")
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            self.git("commit", "--quiet", "--allow-empty", "-m", LONG)
        self.assertIn(b"the subject has 75 characters; 70 are the most", refused.exception.stderr)


if __name__ == "__main__":
    tools = subprocess.run([str(ROOT / "scripts/lint.sh"), "--tools"], stdout=subprocess.PIPE, text=True)
    if tools.returncode == 77:
        print(f"skipped: {tools.stdout.strip()}")
        sys.exit(77)
    unittest.main()
