# SPDX-License-Identifier: Apache-2.0
"""Workspaces of cuDNN on the simulated device: the real cuDNN gives their sizes if there is one, otherwise a model."""
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from device import DeviceTest, run  # noqa: E402

CONVOLUTIONS = str(Path(__file__).resolve().parent / "convolutions.py")
STAND_IN = os.path.join(os.environ["VRAMSCOPE_BINARY_DIR"], "libstand_in_cudnn.so")
# Sizes in convolutions.py: x, y and the weights of 64 channels.
X = 8 * 64 * 32 * 32 * 4
W = 64 * 64 * 3 * 3 * 4


def is_running(word: str) -> bool:
    """True if there is a process with that word in its command line."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if word in (process / "cmdline").read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


@drawn.share(2)
class Workspaces(DeviceTest):
    def workspaces(self, python: str, library: str, *cases: str, gpu: str = "rtx-3060") -> Dict[str, List[int]]:
        output = self.folder / "workspaces.json"
        self.notes = self.folder / "notes"
        variables = {"VRAMSCOPE_SIMULATED_CUDNN_LIBRARY": library, "VRAMSCOPE_SIMULATED_CUDNN_NOTES": str(self.notes)}
        done = run(python, [CONVOLUTIONS, str(output), *cases], gpu=gpu, **variables)
        self.assertEqual((done.code, done.stdout), (0, b""), done.stderr.decode())
        return json.loads(output.read_text(encoding="utf-8"))

    def test_pytorch_chooses_among_the_engines_that_cudnn_proposes_for_this_gpu(self) -> None:
        for python in self.for_each_python():
            needs = 860 * 4096
            found = self.workspaces(python, STAND_IN, "64", "32:benchmark", "13", "16", gpu="rtx-3060")
            self.assertIn(f"cudnn\t{needs}\nmodel\t", self.notes.read_text(encoding="utf-8"))
            self.assertEqual(found["64"], [needs] * 2, "the first engine that PyTorch takes")
            self.assertEqual(found["32:benchmark"], [2 * needs] + [needs] * 2, "the largest to try them all, then the same engine each time")
            self.assertEqual(found["16"], [needs] * 2, "a cuDNN that was ended by a question answers the next ones")
        deadline = time.monotonic() + 120
        while is_running(STAND_IN) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(is_running(STAND_IN), "no process is left behind")

    def test_without_cudnn_a_model_answers(self) -> None:
        cases = ("64", "64:backward", "64:fp32", "64:half", "64:half:last")
        found = self.workspaces(recorded_run.python(), "none", *cases)
        self.assertEqual(found["64"], [X + W] * 2)
        self.assertEqual(found["64:backward"], [X + W, X + W + X, X + W + X] * 2)
        self.assertEqual(found["64:half"], [(X + W + X) // 2] * 2)
        self.assertEqual((found["64:fp32"], found["64:half:last"]), ([], []))
        self.assertEqual(self.notes.read_text(encoding="utf-8"), f"model\t{X + W + X}\n")

    def written_by(self, program: str) -> Any:
        """The JSON that the program, which may call cuDNN, writes to the file of its argument."""
        output = self.folder / "written.json"
        done = run(recorded_run.python(), ["-c", program, str(output)])
        self.assertEqual(done.code, 0, done.stderr.decode())
        return json.loads(output.read_text(encoding="utf-8"))

    def test_recurrent_networks_need_what_was_measured(self) -> None:
        """pytorch/pytorch issue 2895: reserve and workspace that cuDNN required on a P100."""
        program = ("import ctypes, json, sys\ncudnn = ctypes.CDLL('libcudnn.so.9')\nfound = []\n"
                   "for cell in (2, 3):\n"
                   "  rnn, data = ctypes.c_void_p(), ctypes.c_void_p()\n"
                   "  cudnn.cudnnCreateRNNDescriptor(ctypes.byref(rnn)), cudnn.cudnnCreateRNNDataDescriptor(ctypes.byref(data))\n"
                   "  cudnn.cudnnSetRNNDescriptor_v8(rnn, 0, cell, 1, 0, 0, 0, 0, 0, 123, 320, 320, 4, None, 0)\n"
                   "  cudnn.cudnnSetRNNDataDescriptor(data, 0, 0, 250, 100, 123, None, None)\n"
                   "  workspace, reserve = ctypes.c_size_t(), ctypes.c_size_t()\n"
                   "  cudnn.cudnnGetRNNTempSpaceSizes(None, rnn, 1, data, ctypes.byref(workspace), ctypes.byref(reserve))\n"
                   "  found.append([reserve.value, workspace.value])\n"
                   "json.dump(found, open(sys.argv[1], 'w'))")
        self.assertEqual(self.written_by(program), [[736_000_000, 17_730_560], [864_000_000, 13_169_920]])

    def test_descriptors_of_recurrent_networks_can_be_read_back(self) -> None:
        """TensorFlow reads both descriptors before each LSTM and GRU."""
        program = ("import ctypes, json, sys\ncudnn = ctypes.CDLL('libcudnn.so.9')\n"
                   "rnn, data = ctypes.c_void_p(), ctypes.c_void_p()\n"
                   "cudnn.cudnnCreateRNNDescriptor(ctypes.byref(rnn)), cudnn.cudnnCreateRNNDataDescriptor(ctypes.byref(data))\n"
                   "cudnn.cudnnSetRNNDescriptor_v8(rnn, 0, 2, 1, 1, 0, 2, 0, 1, 123, 320, 160, 4, None, 3)\n"
                   "cudnn.cudnnSetRNNDataDescriptor(data, 2, 1, 250, 3, 123, (ctypes.c_int * 3)(250, 7, 1), None)\n"
                   "settings, shape, lengths = (ctypes.c_int * 12)(), (ctypes.c_int * 5)(), (ctypes.c_int * 3)()\n"
                   "place = lambda values, i: ctypes.byref(values, 4 * i)\n"
                   "cudnn.cudnnGetRNNDescriptor_v8(rnn, *(place(settings, i) for i in range(12)), None, None)\n"
                   "cudnn.cudnnGetRNNDataDescriptor(data, *(place(shape, i) for i in range(5)), 3, lengths, None)\n"
                   "json.dump([list(settings), list(shape), list(lengths)], open(sys.argv[1], 'w'))")
        self.assertEqual(self.written_by(program), [[0, 2, 1, 1, 0, 2, 0, 1, 123, 320, 160, 4], [2, 1, 250, 3, 123], [250, 7, 1]])

    def test_the_real_cudnn_is_near_the_model(self) -> None:
        real = os.environ.get("VRAMSCOPE_TEST_CUDNN", "")
        if not real:
            self.skipTest("set VRAMSCOPE_TEST_CUDNN to the folder of a libcudnn.so.9 of 9.8 or later")
        cases = ["64:backward", "64:half:backward"]
        asked = self.workspaces(recorded_run.python(), real, *cases)
        model = self.workspaces(recorded_run.python(), "none", *cases)
        for case in cases:
            self.assertNotEqual(asked[case], model[case], "cuDNN itself answered")
            self.assertAlmostEqual(max(asked[case]) / max(model[case]), 1, delta=0.3)


if __name__ == "__main__":
    recorded_run.main()
