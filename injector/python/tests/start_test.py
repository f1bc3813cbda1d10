#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the shim starts in a process and removes itself. The oracle is the same program without it; torch is a small stand-in here."""

import json
import os
import shutil
import sys
import tempfile
import unittest
from typing import Any, Dict, List, Optional

import harness
from harness import Run

STATE = """
    import sys
    print(sys.path[1:])
    try:
        import sitecustomize
        print("user's", sitecustomize.__file__, sitecustomize.__name__)
    except ImportError as error:
        print(type(error), error)
"""


def pythons() -> List[str]:
    """Every installed Python from 3.8 on; the shim has to work with each."""
    found = {sys.executable: None}
    roots = [os.path.join(folder, "bin") for folder in _listed(os.path.expanduser("~/.pyenv/versions"))]
    for root in [*roots, *os.environ.get("PATH", "").split(os.pathsep)]:
        for minor in range(8, 20):
            path = os.path.join(root, f"python3.{minor}")
            if os.access(path, os.X_OK) and "shims" not in path and os.path.realpath(path) not in map(os.path.realpath, found):
                found[path] = None
    return list(found)


def _listed(folder: str) -> List[str]:
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []


class StartTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def both(self, program: str, python: str = sys.executable, path: Optional[str] = None, arguments: List[str] = []) -> Run:  # noqa: B006
        """Runs it recorded and unrecorded; both must look the same from outside."""
        environment: Dict[str, str] = {"PYTHONDONTWRITEBYTECODE": "1"}
        if path is not None:
            environment["PYTHONPATH"] = path
        settings: Dict[str, Any] = {"python": python, "environment": environment, "folder": self.folder, "arguments": arguments}
        bare = harness.run(program, recorded=False, **settings)
        recorded = harness.run(program, **settings)
        self.assertEqual((bare.exit_code, bare.stdout, bare.stderr), (recorded.exit_code, recorded.stdout, recorded.stderr), python)
        return recorded

    def test_nothing_is_seen_of_it_in_any_python(self) -> None:
        user = os.path.join(self.folder, "user")
        self.write("user/sitecustomize.py", "print('user ran')\n")
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        for python in pythons():
            with self.subTest(python):
                self.assertIn("user ran", self.both(STATE, python, user).stdout)
                self.both(STATE, python, empty)
                self.both(STATE, python)

    def test_a_failing_sitecustomize_fails_as_always(self) -> None:
        user = os.path.join(self.folder, "user")
        for text in ("1 / 0\n", "import no_such_module\n", "import sys; sys.path.insert(0, 'x'); raise KeyError('y')\n"):
            self.write("user/sitecustomize.py", text)
            for python in pythons():
                with self.subTest(python + ": " + text):
                    self.both("print('program')", python, user)

    def test_without_a_session_only_the_path_is_tidied(self) -> None:
        done = harness.run(STATE, recorded=False, environment={"PYTHONPATH": harness.SHIM, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.exit_code, 0)
        self.assertNotIn(harness.SHIM, done.stdout)
        self.assertNotIn("vramscope", done.stdout)

    def test_switched_off_pythons_run_without_it(self) -> None:
        program = "import sys; print('sitecustomize' in sys.modules, [type(finder) for finder in sys.meta_path])"
        for flag in ("-I", "-S", "-E", "-ISE"):
            with self.subTest(flag):
                self.both(program, arguments=[flag])

    def test_children_get_it_again(self) -> None:
        program = """
            import subprocess, sys
            print(subprocess.run([sys.executable, "-c", "import sys; print([f for f in sys.meta_path if not isinstance(f, type)])"],
                                 stdout=subprocess.PIPE).stdout.decode().count("_Finder"))
        """
        self.assertEqual(harness.run(program).stdout, "1\n")

    def test_starts_after_torch_has_been_imported(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\nimport torch.part\nprint('end of torch')\n")
        self.write("torch/part.py", "")
        program = """
            import importlib.util, sys
            print(importlib.util.find_spec("torch").name, "torch" in sys.modules)
            import torch
            spec = torch.__spec__
            shown = repr(spec).replace(hex(id(spec.loader)), "")
            print(type(spec), shown, spec._initializing, sorted(vars(spec)), torch.__loader__ is spec.loader)
        """
        for python in pythons():
            with self.subTest(python):
                done = self.both(program, python, self.folder)
                self.assertEqual([event.what for event in done.events][:1], ["ready"], "torch_ready is the first word of the shim")
                self.assertEqual(done.events[0].name, "0")

    def test_a_torch_that_fails_to_import_fails_as_always(self) -> None:
        for text in ("import no_such_thing\n", "1 / 0\n", "raise OSError('libcudart.so.12: cannot open')\n", "import sys; sys.exit(4)\n", "(\n"):
            self.write("torch/__init__.py", "__version__ = '0'\n" + text)
            for python in pythons():
                with self.subTest(python + ": " + text):
                    done = self.both("import torch", python, self.folder)
                    self.assertEqual(done.events, [])

    def test_a_second_try_of_the_import_is_seen(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\nimport builtins\nbuiltins.tries = getattr(builtins, 'tries', 0) + 1\n1 / (tries - 1)\n")
        program = """
            try:
                import torch
            except ZeroDivisionError:
                print("failed")
            import torch
            import torch
        """
        done = self.both(program, path=self.folder)
        self.assertEqual([event.what for event in done.events].count("ready"), 1)

    def test_start_works_at_any_time_and_more_than_once(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\n")
        program = f"""
            import sys
            sys.path.append({harness.SHIM!r})
            import vramscope_shim
            print(vramscope_shim.start())
            import torch
            print(vramscope_shim.start(), vramscope_shim.start())
        """
        done = harness.run(program, arguments=["-S"], environment={"PYTHONPATH": self.folder})
        self.assertEqual(done.stdout, "False\nTrue True\n", done.stderr)
        self.assertEqual([event.what for event in done.events].count("ready"), 1)

    def test_start_during_the_import_waits_for_its_end(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\nimport vramscope_shim\nprint(vramscope_shim.start())\n__version__ = 'whole'\n")
        done = harness.run(f"import sys; sys.path.append({harness.SHIM!r}); import torch", arguments=["-S"], environment={"PYTHONPATH": self.folder})
        self.assertEqual((done.stdout, done.stderr), ("False\n", ""))
        self.assertEqual([event.name for event in done.events if event.what == "ready"], ["whole"])

    def test_several_may_wait_for_one_module(self) -> None:
        program = f"""
            import sys
            sys.path.append({harness.SHIM!r})
            from vramscope_core.import_hook import when_imported
            for react in (lambda: print("first"), lambda: 1 / 0, lambda: print("third")):
                when_imported("colorsys", react)
            import colorsys
        """
        done = harness.run(program, recorded=False)
        self.assertEqual((done.stdout, done.stderr), ("first\nthird\n", ""))

    def test_what_tries_a_change_is_imported_only_where_one_is_asked_for(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\n")
        program = "import sys, os, torch; print('vramscope_try' in sys.modules, sorted(os.listdir('notes')))"
        os.mkdir(os.path.join(self.folder, "notes"))
        settings: Dict[str, Any] = {"python": sys.executable, "folder": self.folder}
        self.assertEqual(harness.run(program, **settings).stdout, "False []\n")
        plan = '{"notes": "notes", "amp": "bf16", "checkpoint": ["all"]}'
        done = harness.run(program, environment={"VRAMSCOPE_TRY": plan}, **settings)
        self.assertEqual((done.exit_code, done.stderr), (0, ""), "this torch has nothing that could be changed")
        self.assertRegex(done.stdout, r"True \['[0-9]+\.try'\]", "and it is told")
        for broken in ("{", "[]", '{"amp": "bf16"}'):
            done = harness.run(program, environment={"VRAMSCOPE_TRY": broken}, **settings)
            self.assertEqual((done.exit_code, done.stderr), (0, ""), broken)

    def test_a_package_that_fails_leaves_the_changes_of_the_other(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\n")
        self.write("keras/__init__.py", "class backend:\n    backend = staticmethod(lambda: 'jax')\n")
        for broken, left in (("vramscope_try", ".keras.try"), ("vramscope_try_keras", ".try")):
            copy, notes = (os.path.join(self.folder, f"{what}_without_{broken}") for what in ("ours", "notes"))
            os.mkdir(notes)
            shutil.copytree(harness.SHIM, copy, ignore=shutil.ignore_patterns("tests", "__pycache__"))
            with open(os.path.join(copy, broken, "__init__.py"), "a", encoding="utf-8") as file:
                file.write("\ndel arrange\n")
            environment = {"VRAMSCOPE_TRY": json.dumps({"notes": notes, "amp": "bf16"}), "PYTHONPATH": copy + os.pathsep + self.folder}
            done = harness.run("import keras, torch", python=sys.executable, recorded=False, folder=self.folder, environment=environment)
            self.assertEqual((done.exit_code, done.stderr), (0, ""), broken)
            self.assertEqual([name.lstrip("0123456789") for name in os.listdir(notes)], [left])

    def test_without_the_injector_nothing_happens(self) -> None:
        self.write("torch/__init__.py", "__version__ = '0'\n")
        done = harness.run("import torch", environment={"PYTHONPATH": harness.SHIM + ":" + self.folder, "VRAMSCOPE_SESSION": "x"}, recorded=False)
        self.assertEqual((done.exit_code, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
