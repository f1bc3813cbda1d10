# SPDX-License-Identifier: Apache-2.0
"""A made-up wheel needs three CUDA libraries that do not exist. After cuda_stand_ins.py it loads, and all calls return an error."""

import contextlib
import ctypes
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cuda_stand_ins  # noqa: E402
from elf_file import ElfFile, NotElf  # noqa: E402

# What libtorch_cuda.so does: call a versioned function, read text, ask for a version, and use an unversioned library.
WHEEL_SOURCE = """
int cudaTestCount(int*); const char* cudaTestErrorString(int); unsigned long cudnnGetVersion(void); int ncclTestInit(void);
int count(void) { int n = 7; return cudaTestCount(&n); }
const char* error_text(void) { return cudaTestErrorString(1); }
unsigned long cudnn(void) { return cudnnGetVersion(); }
int nccl(void) { return ncclTestInit(); }
"""
# The libraries that it is linked against; they are deleted afterwards.
REAL_LIBRARIES = {
    "libcudatest.so.99": ("int cudaTestCount(int* n) { return 0; } const char* cudaTestErrorString(int e) { return 0; }", "libcudatest.so.99"),
    "libcudnn.so.99": ("unsigned long cudnnGetVersion(void) { return 1; }", "libcudnn.so.99"),
    "libnccltest.so.2": ("int ncclTestInit(void) { return 0; }", None),
}


def compile_library(path: str, source: str, *flags: str) -> None:
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-x", "none", "-o", path, *flags], input=source, text=True, check=True)


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class CudaStandInsTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.prefix = scratch.name
        self.site_packages = os.path.join(self.prefix, "lib", "python3", "site-packages")
        self.stand_ins = os.path.join(self.site_packages, "nvidia", "runtime", "lib")
        self.library = os.path.join(self.site_packages, "torch", "lib", "libtorch_test.so")
        self.make_wheel()

    def make_wheel(self) -> None:
        real = os.path.join(self.prefix, "real")
        for folder in (real, os.path.dirname(self.library), os.path.join(self.site_packages, "torch-9.dist-info")):
            os.makedirs(folder)
        for soname, (source, version) in REAL_LIBRARIES.items():
            flags = [f"-Wl,-soname,{soname}"]
            if version:
                script = os.path.join(real, soname + ".versions")
                with open(script, "w", encoding="utf-8") as file:
                    file.write(f"{version} {{ global: *; }};\n")
                flags.append(f"-Wl,--version-script={script}")
            compile_library(os.path.join(real, soname), source, *flags)
        rpath = "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../../nvidia/runtime/lib:$ORIGIN"
        compile_library(self.library, WHEEL_SOURCE, *(os.path.join(real, soname) for soname in REAL_LIBRARIES), rpath)
        shutil.rmtree(real)
        with open(os.path.join(self.site_packages, "torch-9.dist-info", "METADATA"), "w", encoding="utf-8") as file:
            file.write("Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == \"Linux\"\n")

    def run_script(self, *arguments: str) -> int:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return cuda_stand_ins.main([self.site_packages, *arguments])

    def test_the_wheel_loads_and_every_call_says_no_device(self) -> None:
        # In another process: the loader of this one would remember that the folder did not exist.
        attempt = subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({self.library!r})"], capture_output=True, text=True, check=False)
        self.assertIn("OSError: libcudatest.so.99", attempt.stderr)
        self.assertEqual(self.run_script("--force"), 0)
        wheel = ctypes.CDLL(self.library)
        wheel.error_text.restype = ctypes.c_char_p
        wheel.cudnn.restype = ctypes.c_ulong
        self.assertEqual(wheel.count(), 100)
        self.assertIn(b"no CUDA device", wheel.error_text())
        self.assertEqual(wheel.cudnn(), 92600)
        self.assertEqual(wheel.nccl(), 100)

    def test_an_environment_that_is_not_ours_is_left_alone(self) -> None:
        self.assertEqual(self.run_script(), 2)
        self.assertFalse(os.path.exists(self.stand_ins))
        with open(os.path.join(self.prefix, cuda_stand_ins.MARKER), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.run_script(), 0)
        self.assertEqual(len([name for name in os.listdir(self.stand_ins) if ".so." in name]), 3)

    def test_a_library_that_is_there_is_kept(self) -> None:
        os.makedirs(self.stand_ins)
        present = os.path.join(self.stand_ins, "libcudatest.so.99")
        compile_library(present, "int mine;")
        before = os.stat(present)
        self.assertEqual(self.run_script("--force"), 0)
        self.assertEqual(os.stat(present), before)

    def test_a_second_run_builds_nothing(self) -> None:
        self.run_script("--force")
        self.assertEqual(cuda_stand_ins.stand_in(self.site_packages), [])

    def test_what_is_no_library_is_no_crash(self) -> None:
        path = os.path.join(os.path.dirname(self.library), "libtext.so")
        with open(path, "w", encoding="utf-8") as file:
            file.write("INPUT(libother.so)\n")
        with self.assertRaises(NotElf):
            ElfFile(path)
        self.assertEqual(self.run_script("--force"), 0)


if __name__ == "__main__":
    unittest.main()
