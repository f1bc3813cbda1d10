#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel of scripts/wheel.sh, in a new virtual environment that has PyTorch: its commands give the same answers as the build's, and its
programs and libraries run with glibc 2.28."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn
import recorded_run

SOURCE = recorded_run.SOURCE
BUILD = SOURCE / "build/release"
WHEELS = SOURCE / "build/wheel"
NEWEST_GLIBC = (2, 28)
PROGRAM = '''
import sys
import torch

device = sys.argv[1]
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).to(device)
optimizer = torch.optim.Adam(model.parameters())
for step in range(4):
    x = torch.randn(64, 256, device=device)
    y = torch.randint(0, 10, (64,), device=device)
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
'''


def sources() -> Iterator[Path]:
    """The files from which a wheel is made: if one is newer than the wheel, the wheel is made again."""
    yield from (BUILD / "bin/vramscope", BUILD / "injector/libvramscope_injector.so", SOURCE / "scripts/wheel.sh", SOURCE / "scripts/make_wheel.py")
    yield from (BUILD / "bin").glob("vramscope-viewer")
    yield from (SOURCE / "scripts/wheel").glob("*.*")
    yield from (SOURCE / "injector/torch/bridge").glob("*.*")
    yield from (BUILD / "lib/vramscope").rglob("*.so.*")
    for folder in ("injector/python", "injector/simulated_cuda/python", "profiler/python/vramscope"):
        yield from (path for path in (SOURCE / folder).rglob("*.py") if "tests" not in path.parts)


def wheel() -> Path:
    """The wheel of this build, which is made unless it is there; skips the test if the tools for that cannot be installed."""
    if not Path(recorded_run.vramscope()).resolve().is_relative_to(BUILD.resolve()):
        raise unittest.SkipTest("the wheel is made of build/release, which is not the build under test")
    newest = max(path.stat().st_mtime for path in sources())
    if not any(path.stat().st_mtime > newest for path in WHEELS.glob("*.whl")):
        command = [str(SOURCE / "scripts/wheel.sh"), "--bridges", "newest"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
        if done.returncode == recorded_run.SKIPPED:
            raise unittest.SkipTest(done.stdout.strip())
        if done.returncode:
            raise AssertionError(f"scripts/wheel.sh: exit {done.returncode}\n{done.stdout}")
    return max(WHEELS.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def needed_glibc(path: Path) -> List[str]:
    """The versions of glibc that a program or library names, as readelf lists them; nothing for other files."""
    listed = subprocess.run(["readelf", "--version-info", "--wide", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return re.findall(r"Name: GLIBC_([0-9.]+)", listed.stdout)


# Fields of the deep recorder's events that are the same in every run of a program: all but addresses and positions in a stack or thread.
STEADY_FIELDS = {"op_begin": (0,), "op_end": (), "op_tensor": (0, 1, 4, 5, 6, 7), "op_scalar": (0, 1),
                 "node_begin": (1,), "node_edge": (2,), "node_end": ()}


def deep_facts(trace: Path) -> List[Tuple[str, ...]]:
    """What the deep recorder has recorded, in order: operators, shapes, strides and types of their operands, scalars, nodes."""
    return [(event.type, *(event.fields[i] for i in STEADY_FIELDS[event.type])) for event in recorded_run.events(trace, *STEADY_FIELDS)]


@drawn.whole(3)
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        python = recorded_run.python()
        cls.wheel = wheel()
        folder = tempfile.TemporaryDirectory(prefix="vramscope-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.venv = cls.folder / "venv"
        cls.program = cls.folder / "train.py"
        cls.program.write_text(PROGRAM)
        subprocess.run([python, "-m", "venv", "--without-pip", str(cls.venv)], check=True)
        find = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
        torch = Path(subprocess.check_output([python, "-c", find], text=True).strip())
        site = next((cls.venv / "lib").glob("python*/site-packages"))
        (site / "torch.pth").write_text(f"{torch.parent}\n")
        install = [python, "-m", "pip", "--python", str(cls.venv / "bin/python"), "install", "--quiet", "--disable-pip-version-check", "--no-index"]
        done = subprocess.run([*install, str(cls.wheel)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "No module named pip" in done.stdout:
            raise unittest.SkipTest(f"{python} has no pip")
        if done.returncode:
            raise AssertionError(done.stdout)

    def vramscope(self, *arguments: str, built: bool = False) -> str:
        """The output of the installed command, which finds no compiler, or of the build's. `python` is the environment's in both cases."""
        path = f"{self.venv}/bin"
        environment = {"PATH": f"{path}:{os.environ['PATH']}"} if built else {"PATH": path, "HOME": str(self.folder), "CXX": ""}
        command = recorded_run.vramscope() if built else f"{path}/vramscope"
        done = recorded_run.run([command, *arguments], env=recorded_run.clean_environment(**environment), cwd=self.folder)
        self.assertEqual(done.code, 0, f"{command} {' '.join(arguments)}\n{done.stderr.decode()}")
        return done.stdout.decode()

    def recorded(self, name: str, built: bool) -> Dict[str, Any]:
        """The report of the program on the CPU, recorded and read by one of the two commands."""
        self.vramscope("record", "-o", name, "--quiet", "--", "python", "train.py", "cpu", built=built)
        return json.loads(self.vramscope("report", name, "--json", built=built))

    def test_recording_and_report_are_those_of_the_build(self) -> None:
        report, expected = self.recorded("wheel.vms", False), self.recorded("build.vms", True)
        self.assertEqual(len(report["steps"]), 4)
        self.assertGreater(report["peak"]["categories"]["optimizer_state"], 2 * 4 * 256 * 1024)
        for fact in ("allocated_bytes", "categories", "step", "phase"):
            self.assertEqual(report["peak"][fact], expected["peak"][fact], fact)
        # Operators too: the installed command has a deep recorder for this PyTorch, the build's has compiled one.
        facts, expected_facts = (deep_facts(self.folder / name) for name in ("wheel.vms", "build.vms"))
        self.assertGreater(len([fact for fact in facts if fact[0] == "op_begin"]), 500)
        self.assertEqual(facts, expected_facts)
        bridge = next(hook for hook in json.loads(self.vramscope("info", "wheel.vms", "--json"))["coverage"] if hook["hook"] == "LibTorch bridge")
        self.assertIn(f"{self.venv}/lib/vramscope/bridges/", bridge["detail"])
        # The whole report, and not only its peak.
        self.assertEqual(self.vramscope("report", "wheel.vms", "--json"), self.vramscope("report", "wheel.vms", "--json", built=True))

    def test_dry_run_is_that_of_the_build(self) -> None:
        command = ["dryrun", "--gpu", "rtx-4090", "--json", "--", "python", "train.py", "cuda"]
        answer, expected = (json.loads(self.vramscope(*command, built=built)) for built in (False, True))
        for fact in ("allocated_bytes", "reserved_bytes", "device_used_bytes", "categories", "step", "phase"):
            self.assertEqual(answer["peak"][fact], expected["peak"][fact], fact)
        self.assertGreater(answer["peak"]["device_used_bytes"], answer["peak"]["reserved_bytes"])

    def test_the_viewer_draws_the_picture_of_the_build(self) -> None:
        if not (BUILD / "bin/vramscope-viewer").exists():
            self.skipTest("the build has no viewer")
        trace = str(SOURCE / "trace_format/testdata/v1_training.vms")
        for name, built in (("wheel.png", False), ("build.png", True)):
            self.vramscope("view", "--screenshot", name, trace, built=built)
        self.assertEqual((self.folder / "wheel.png").read_bytes(), (self.folder / "build.png").read_bytes())

    def test_python_reads_a_trace(self) -> None:
        trace = str(SOURCE / "trace_format/testdata/v1_training.vms")
        show = "import sys, vramscope; run = vramscope.open(sys.argv[1]); print(run.peak.allocated_bytes, len(run.blocks()))"
        done = recorded_run.run([str(self.venv / "bin/python"), "-I", "-c", show, trace], cwd=self.folder)
        self.assertEqual(done.code, 0, done.stderr.decode())
        peak, blocks = map(int, done.stdout.split())
        self.assertEqual(peak, json.loads(self.vramscope("report", trace, "--json"))["peak"]["allocated_bytes"])
        self.assertGreater(blocks, 100)

    def test_the_debian_package_has_the_same(self) -> None:
        """Unpacked and not installed: the programs and the package find each other in any folder."""
        command = [str(SOURCE / "scripts/deb.sh"), "--tree", "--quick", "--out", str(self.folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == recorded_run.SKIPPED:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout)
        root, trace = self.folder / "debian", str(SOURCE / "trace_format/testdata/v1_training.vms")
        subprocess.run(["dpkg-deb", "-x", str(next(self.folder.glob("*.deb"))), str(root)], check=True)
        report = recorded_run.run([str(root / "usr/bin/vramscope"), "report", trace, "--json"], env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(report.stdout.decode(), self.vramscope("report", trace, "--json"), report.stderr.decode())
        show = "import sys, vramscope; print(vramscope.open(sys.argv[1]).peak.allocated_bytes)"
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root / "usr/lib/python3/dist-packages")}
        python = recorded_run.run([recorded_run.python(), "-c", show, trace], env=environment, cwd=self.folder)
        self.assertEqual(int(python.stdout), json.loads(report.stdout)["peak"]["allocated_bytes"], python.stderr.decode())
        # Each file of the wheel is there, so none was left out or moved without notice.
        names = {path.name.removesuffix(".gz") for path in root.rglob("*") if path.is_file()}
        with zipfile.ZipFile(self.wheel) as opened:
            expected = {Path(name).name for name in opened.namelist() if ".dist-info/" not in name}
        self.assertEqual(expected - names, set())
        self.assertIn("annotate.h", expected)

    def test_no_file_needs_a_newer_glibc(self) -> None:
        files = [path for path in self.venv.rglob("*") if path.is_file() and not path.is_symlink() and "vramscope" in str(path.relative_to(self.venv))]
        needed = {str(path.relative_to(self.venv)): needed_glibc(path) for path in files}
        self.assertGreaterEqual(sum(bool(versions) for versions in needed.values()), 20)  # the command, the injector, simulated libraries
        newer = {path: version for path, versions in needed.items() for version in versions if tuple(map(int, version.split("."))) > NEWEST_GLIBC}
        self.assertEqual(newer, {})

    def test_it_has_the_licenses_of_what_is_in_it(self) -> None:
        with zipfile.ZipFile(self.wheel) as opened:
            licenses = {Path(name).name for name in opened.namelist() if "/licenses/" in name}
            bill = json.loads(opened.read(next(name for name in opened.namelist() if name.endswith("/sboms/vramscope.cdx.json"))))
        packages = {f"{part['name']}.txt" for part in bill["components"] if part["purl"].startswith("pkg:deb/")}
        self.assertEqual(packages, licenses - {"LICENSE", "zig.txt", "imgui.txt", "glfw.txt"})
        for part in ("LICENSE", "libzstd", "zlib", "sqlite", "boost", "fmt", "libstdc++", "nlohmann", "imgui", "glfw"):
            self.assertTrue(any(part in name for name in licenses), f"{part} is not among {sorted(licenses)}")


if __name__ == "__main__":
    recorded_run.main()
