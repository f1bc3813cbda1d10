# SPDX-License-Identifier: Apache-2.0
"""What all verbs have in common: help with examples, manual pages that man formats without a warning, completion that real shells run, --color and
--quiet, and progress on a terminal only. The oracles are the shells and man, where they are installed."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import RecordingTest, clean_environment, python

# 60,000 allocations and frees: long enough that reading them shows progress.
MANY_EVENTS = "import torch\nfor _ in range(60000): torch.empty(8)\n"


def vramscope(*arguments: str) -> str:
    done = recorded_run.run([recorded_run.vramscope(), *arguments])
    assert done.code == 0, (arguments, done.stderr.decode())
    return done.stdout.decode()


def verbs() -> List[str]:
    return re.findall(r"(?m)^  (\w+)  ", vramscope("--help").split("Verbs:")[1])


def on_a_terminal(command: Sequence[str], keys: bytes = b"", until: Optional[bytes] = None) -> Tuple[bytes, bytes]:
    """The command's standard output, and what it writes to the terminal, which is its standard error. With `keys`, the terminal is all three streams."""
    master, slave = pty.openpty()
    environment = clean_environment(TERM="xterm", LC_ALL="C.UTF-8", INPUTRC="/dev/null")
    everywhere = slave if keys else subprocess.DEVNULL
    process = subprocess.Popen(list(command), stdin=everywhere, stdout=slave if keys else subprocess.PIPE, stderr=slave, env=environment,
                               start_new_session=True)
    os.close(slave)
    if keys:
        os.write(master, keys)
    seen = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (until and until in seen):
        ready, _, _ = select.select([master, *([process.stdout] if process.stdout else [])], [], [], 1)
        if master not in ready and process.poll() is not None:
            break
        if master in ready:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            seen += part
        elif ready:
            break  # the answer begins: everything expected on the terminal is there by now
    output = b""
    if process.stdout:
        output = process.stdout.read()
        process.stdout.close()
    elif process.poll() is None:
        process.kill()
    process.wait()
    os.close(master)
    return output, seen


class Help(unittest.TestCase):
    def test_every_verb_shows_examples_before_its_options(self) -> None:
        self.assertGreater(len(verbs()), 20)
        for verb in verbs():
            with self.subTest(verb):
                text = vramscope(verb, "--help")
                self.assertRegex(text.split("Usage:")[0], rf"vramscope {verb}\b")
                for option in ("--color auto|always|never", "-q, --quiet", "-h, --help"):
                    self.assertIn(option, text.split("Usage:")[1])
                self.assertNotIn("\x1b", text)
                self.assertIn("\x1b[", vramscope(verb, "--help", "--color", "always"))

    def test_a_color_that_is_none_is_refused(self) -> None:
        done = recorded_run.run([recorded_run.vramscope(), "report", "--color", "blue", "x.vms"])
        self.assertEqual(done.code, 2)
        self.assertIn(b"blue", done.stderr)


class ManualPages(RecordingTest):
    def test_they_are_formatted_without_a_warning(self) -> None:
        vramscope("man", "--into", str(self.folder))
        pages = sorted(self.folder.iterdir())
        self.assertEqual([page.name for page in pages], sorted(["vramscope.1", *[f"vramscope-{verb}.1" for verb in verbs()]]))
        for page in pages:
            text = page.read_text(encoding="ascii")
            for heading in ("NAME", "SYNOPSIS", "EXAMPLES", "SEE ALSO"):
                self.assertRegex(text, rf'(?m)^\.SH "?{heading}"?$')
        if shutil.which("groff"):
            for page in pages:
                done = recorded_run.run(["groff", "-man", "-ww", "-Tutf8", "-rLL=100n", str(page)])
                self.assertEqual((done.code, done.stderr), (0, b""), page.name)
        if shutil.which("man"):
            page = self.folder / "vramscope-report.1"
            done = recorded_run.run(["man", "--warnings", "-l", str(page)], env=clean_environment(LC_ALL="C.UTF-8", MANWIDTH="100", MANPAGER="cat"))
            self.assertEqual((done.code, done.stderr), (0, b""))
            self.assertIn("--html OUT", re.sub(r".\x08|\x1b\[[\d;]*m", "", done.stdout.decode()))

    def test_those_of_the_build_are_the_same(self) -> None:
        folder = Path(recorded_run.vramscope()).resolve().parent.parent
        built = next((path for path in (folder / "profiler/cli/share", folder / "share") if (path / "man").exists()), None)
        if built is None:
            self.skipTest("the pages of this build are not beside it")
        self.assertEqual((built / "man/man1/vramscope-diff.1").read_text(), vramscope("man", "diff"))
        self.assertEqual((built / "bash-completion/completions/vramscope").read_text(), vramscope("completion", "bash"))


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Bash(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.script = self.folder / "completion"
        self.script.write_text(vramscope("completion", "bash"), encoding="utf-8")
        (self.folder / "a run.vms").touch()
        (self.folder / "runs").mkdir()

    def completed(self, *words: str) -> List[str]:
        """The completions that bash offers for the last word: calls the function as readline does."""
        ask = 'source completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vramscope; printf "%s\\n" "${COMPREPLY[@]}"'
        done = recorded_run.run(["bash", "--norc", "-c", ask, "bash", "vramscope", *words], cwd=self.folder)
        self.assertEqual((done.code, done.stderr), (0, b""))
        return done.stdout.decode().split("\n")[:-1]

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self) -> None:
        done = recorded_run.run(["shellcheck", "-s", "bash", str(self.script)])
        self.assertEqual((done.code, done.stdout), (0, b""))

    def test_verbs_options_values_and_files(self) -> None:
        self.assertEqual(self.completed("rep"), ["report", "replay"] if verbs().index("report") < verbs().index("replay") else ["replay", "report"])
        self.assertEqual(set(verbs()) - set(self.completed("")), set())
        self.assertEqual(self.completed("report", "--ht"), ["--html"])
        self.assertEqual(self.completed("report", "--color", "a"), ["auto", "always"])
        self.assertEqual(self.completed("report", "--color", "=", "n"), ["never"])  # as COMP_WORDBREAKS splits it
        self.assertEqual(self.completed("report", "a"), ["a run.vms"])
        self.assertEqual(self.completed("record", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(self.completed("record", "-o", "a"), ["a run.vms"])
        self.assertEqual(self.completed("man", "--into", ""), ["runs"])
        self.assertEqual(self.completed("man", "compl"), ["completion"])
        self.assertEqual(self.completed("completion", "f"), ["fish"])
        self.assertEqual(self.completed("stop", ""), [""])  # process ids are not guessed
        self.assertEqual(self.completed("report", "--top", ""), [""])

    def test_behind_a_recorded_command_come_its_own_words(self) -> None:
        self.assertIn("bash", self.completed("record", "--", "bas"))
        self.assertIn("bash", self.completed("record", "--depth", "all", "bas"))
        self.assertEqual(self.completed("record", "bash", "a"), ["a run.vms"])
        self.assertEqual(self.completed("record", "--", "bash", "--he"), [""])  # no option of ours

    def test_the_tab_key(self) -> None:
        keys = f"PS1=; source '{self.script}'\nvramscope repor\t--htm\t=x 'done'\x01echo \x05\n".encode()
        _, seen = on_a_terminal(["bash", "--norc", "--noprofile", "-i"], keys, until=b"=x done\r\n")
        # A word with only one completion is followed by a blank, even before the character that was typed next.
        self.assertRegex(seen.decode().replace("\r", ""), r"vramscope report --html ?=x done\n")


class OtherShells(unittest.TestCase):
    def test_zsh_and_fish_read_theirs(self) -> None:
        ran = 0
        for shell, check in (("zsh", ["zsh", "-fn"]), ("fish", ["fish", "--no-execute"])):
            if shutil.which(shell):
                done = subprocess.run(check, input=vramscope("completion", shell), capture_output=True, text=True, timeout=600, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                ran += 1
        if not ran:
            self.skipTest("neither zsh nor fish is installed")

    def test_fish_offers_what_begins_so(self) -> None:
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        ask = "vramscope completion fish | source; complete -C 'vramscope report --col'; complete -C 'vramscope report --color n'"
        path = f"{Path(recorded_run.vramscope()).resolve().parent}:{os.environ['PATH']}"
        done = recorded_run.run(["fish", "--no-config", "-c", ask], env=clean_environment(PATH=path))
        self.assertEqual([line.split("\t")[0] for line in done.stdout.decode().splitlines()], ["--color", "never"])


class Progress(RecordingTest):
    trace: Path

    def test_it_is_shown_on_a_terminal_alone(self) -> None:
        trace = self.recorded([python(), "-c", MANY_EVENTS], ["--device", "cpu"])
        events = recorded_run.ask("report", str(trace))["events"]
        self.assertGreater(events, 100_000)
        tool, page, rows = recorded_run.vramscope(), self.folder / "run.html", self.folder / "rows.csv"
        for arguments, lines in ((["report", str(trace)], [b"Reading run.vms "]),
                                 (["report", str(trace), "--html", str(page)], [b"Reading run.vms ", b"Drawing "]),
                                 (["convert", str(trace), str(rows)], [b"Reading run.vms ", b"Writing rows.csv, blocks "])):
            with self.subTest(arguments[0]):
                output, seen = on_a_terminal([tool, *arguments])
                for line in lines:
                    self.assertIn(b"\r" + line, seen)
                self.assertRegex(seen, rb"\d+ %")
                self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-80:])  # and is erased
                self.assertNotIn(b"Reading", output)
                quiet = on_a_terminal([tool, *arguments, "--quiet"])
                self.assertEqual(quiet, (output, b""))
                piped = recorded_run.run([tool, *arguments])
                self.assertEqual((piped.code, piped.stderr), (0, b""))


if __name__ == "__main__":
    recorded_run.main()
