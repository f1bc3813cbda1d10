# SPDX-License-Identifier: Apache-2.0
"""release.sh sets the version and writes the notes in a small repository, and refuses a tree that is not ready. It never commits or tags."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Tuple

SCRIPTS = Path(__file__).resolve().parent
CMAKE = "cmake_minimum_required(VERSION 3.22)\nproject(vramscope VERSION 0.1.0 LANGUAGES CXX)\n"
OLD = "## 0.1.0 - 2026-01-31\n\n- The first.\n"
IDENTITY = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
PACKAGE = "#!/bin/sh\nmkdir -p build/package && grep -o 'VERSION 0.2.0' CMakeLists.txt > build/package/vramscope-$(uname -m).tar.gz\n"


class ReleaseTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write(".gitignore", "/build/\n")
        self.write("CMakeLists.txt", CMAKE)
        self.changelog("### Recording\n- It is faster.\n\n")
        for script in ("release.sh", "environment.sh"):
            shutil.copy(SCRIPTS / script, self.root / "scripts" / script)
        self.write("scripts/lint.sh", "#!/bin/sh\n! grep -q wrong CHANGELOG.md\n")
        self.write("scripts/package.sh", PACKAGE)
        self.git("init", "--quiet")
        self.commit()

    def write(self, path: str, text: str) -> None:
        (self.root / "scripts").mkdir(exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            (self.root / path).chmod(0o755)

    def changelog(self, unreleased: str, heading: str = "") -> None:
        self.write("CHANGELOG.md", f"# Changelog\n\n## Unreleased\n\n{unreleased}{heading}{OLD}")

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "commit.gpgsign=false", *arguments]
        return subprocess.run(command, cwd=self.root, check=True, env={**os.environ, **IDENTITY}, capture_output=True, text=True).stdout

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "All")

    def release(self, version: str = "0.2.0") -> Tuple[int, str]:
        done = subprocess.run([str(self.root / "scripts/release.sh"), version], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "VRAMSCOPE_RELEASE_DATE": "2026-03-01"}, timeout=300)
        return done.returncode, done.stdout

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def assert_refused(self, part: str, version: str = "0.2.0") -> None:
        before = self.git("diff")
        code, text = self.release(version)
        self.assertEqual(code, 1, text)
        self.assertIn(part, text)
        self.assertEqual(self.git("diff"), before)

    def test_what_is_unreleased_becomes_the_release(self) -> None:
        code, text = self.release()
        self.assertEqual(code, 0, text)
        self.assertIn("project(vramscope VERSION 0.2.0 LANGUAGES", self.text("CMakeLists.txt"))
        self.assertIn("## Unreleased\n\n## 0.2.0 - 2026-03-01\n\n### Recording\n", self.text("CHANGELOG.md"))
        self.assertEqual(self.text("build/release-0.2.0/notes.md"), "### Recording\n- It is faster.\n")
        archive = next((self.root / "build/release-0.2.0").glob("vramscope-0.2.0-*.tar.gz"))
        self.assertEqual(archive.read_text(encoding="utf-8"), "VERSION 0.2.0\n")
        self.assertIn('git commit -a -m "Release 0.2.0"\n  git tag -a v0.2.0 --cleanup=whitespace -F build/release-0.2.0/notes.md\n', text)
        self.assertEqual(self.git("tag"), "")
        self.assertEqual(len(self.git("log", "--oneline").splitlines()), 1)

    def test_the_tag_has_the_headings_of_the_notes(self) -> None:
        self.release()
        self.git("tag", "-a", "v0.2.0", "--cleanup=whitespace", "-F", "build/release-0.2.0/notes.md")
        self.assertIn("### Recording", self.git("tag", "-l", "--format=%(contents)"))

    def test_a_committed_section_of_today_is_taken(self) -> None:
        self.changelog("", "## 0.2.0 - 2026-03-01\n\n- It is faster.\n\n")
        self.commit()
        code, text = self.release()
        self.assertEqual(code, 0, text)
        self.assertEqual(self.text("build/release-0.2.0/notes.md"), "- It is faster.\n")
        self.commit()
        code, text = self.release()  # again, after the commit
        self.assertEqual(code, 0, text)
        self.assertNotIn("git commit", text)

    def test_what_is_not_ready_is_refused(self) -> None:
        self.assert_refused("is no version", "0.2")
        self.assert_refused("older than 0.1.0", "0.0.9")
        self.write("CMakeLists.txt", CMAKE + "# edited\n")
        self.assert_refused("not clean")
        self.git("checkout", "--quiet", "CMakeLists.txt")
        self.git("tag", "v0.2.0")
        self.assert_refused("v0.2.0 exists")

    def test_the_changelog_must_have_the_release(self) -> None:
        for unreleased, heading, part in (("", "", "no text below"), ("", "## 0.2.0 - 2026-02-01\n\n- Old.\n\n", "must be today"),
                                          ("", "## 0.2.0 - 2026-03-01\n\n", "no text below"), ("- wrong\n\n", "", "lint.sh found")):
            self.changelog(unreleased, heading)
            self.commit()
            self.assert_refused(part)

    def test_a_failed_archive_leaves_the_tree_as_it_was(self) -> None:
        self.write("scripts/package.sh", "#!/bin/sh\necho no compiler >&2; exit 1\n")
        self.commit()
        self.assert_refused("no compiler")


if __name__ == "__main__":
    unittest.main()
