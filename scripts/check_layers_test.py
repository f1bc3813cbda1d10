# SPDX-License-Identifier: Apache-2.0
"""Every rule of check_layers.py catches a tree that breaks it, and a clean tree passes."""

import os
import sys
import tempfile
import unittest
from typing import Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import check_layers  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
CLEAN = {
    "trace_format/event.h": SPDX,
    "injector/core/ring.cc": SPDX + '#include "trace_format/event.h"\n#include <cstdint>\n',
    "profiler/model/block.cc": SPDX + '#include "block.h"\n#include "trace_format/event.h"\n#include <fmt/format.h>\n',
    "profiler/model/block.h": SPDX,
    "viewer/main.cc": SPDX + '#include "profiler/model/block.h"\n',
    "samples/gpt.cpp": SPDX + "#include <torch/torch.h>\n",
    "injector/python/shim.py": "# SPDX-License-Identifier: Apache-2.0\nimport ctypes\nimport torch\nfrom . import names\n",
}


class CheckLayersTest(unittest.TestCase):
    def violations(self, changed: Dict[str, str]) -> List[str]:
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **changed}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return [str(violation) for violation in check_layers.check(root)]

    def assert_caught(self, path: str, text: str, message: str) -> None:
        found = self.violations({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(path + ":"), found)
        self.assertIn(message, found[0])

    def test_a_clean_tree_passes(self) -> None:
        self.assertEqual(self.violations({}), [])

    def test_an_include_up_the_arrows_is_caught(self) -> None:
        self.assert_caught("trace_format/event.h", SPDX + '#include "profiler/model/block.h"\n', "trace_format must not include profiler")
        self.assert_caught("injector/core/ring.cc", SPDX + '#include "profiler/model/block.h"\n', "injector must not include profiler")
        self.assert_caught("profiler/model/block.cc", SPDX + '#include "injector/core/api.h"\n', "profiler must not include injector")
        self.assert_caught("profiler/model/block.cc", SPDX + '#include "../../viewer/main.h"\n', "profiler must not include viewer")

    def test_a_header_of_unix_in_the_analyzing_half_is_caught(self) -> None:
        unix = SPDX + "#include <sys/stat.h>\n"
        self.assert_caught("profiler/model/block.cc", unix, "not in the analyzing half")
        self.assert_caught("profiler/cli/report/leaks.cc", SPDX + "#include <unistd.h>\n", "not in the analyzing half")
        for path in ("profiler/model/block_test.cc", "profiler/collector/drain.cc", "trace_format/mapped_file.cc", "profiler/cli/record/record.cc"):
            self.assertEqual(self.violations({path: unix}), [])

    def test_a_room_of_the_analysis_that_looks_up_is_caught(self) -> None:
        self.assert_caught("profiler/model/block.cc", SPDX + '#include "profiler/report/build.h"\n', "model must not include profiler/report")
        self.assert_caught("profiler/plan/plan.cc", SPDX + '#include "profiler/diff/compare.h"\n', "plan must not include profiler/diff")
        self.assert_caught("viewer/model/block.cc", SPDX + '#include "profiler/cli/frame/verb.h"\n', "viewer must not include profiler/cli")
        self.assert_caught("profiler/attic/block.cc", SPDX, "profiler/attic has no floor")
        self.assertEqual(self.violations({"viewer/main.cc": SPDX + '#include "profiler/cli/frame/verb.h"\n'}), [])

    def test_torch_and_cuda_headers_outside_their_places_are_caught(self) -> None:
        self.assert_caught("injector/torch/hooks.cc", SPDX + "#include <c10/core/Allocator.h>\n", "c10/core/Allocator.h")
        self.assert_caught("profiler/model/block.cc", SPDX + "#include <cuda_runtime.h>\n", "cuda_runtime.h")

    def test_heavy_headers_inside_the_recorded_process_are_caught(self) -> None:
        self.assert_caught("injector/core/ring.cc", SPDX + "#include <iostream>\n", "iostream")
        self.assert_caught("injector/core/ring.cc", SPDX + "#include <fmt/format.h>\n", "fmt/format.h")
        self.assertEqual(self.violations({"injector/core/ring_test.cc": SPDX + "#include <fstream>\n"}), [])

    def test_a_shim_that_needs_a_package_is_caught(self) -> None:
        self.assert_caught("injector/python/shim.py", "# SPDX-License-Identifier: Apache-2.0\nimport numpy\n", "must not import numpy")

    def test_a_missing_licence_line_is_caught(self) -> None:
        self.assert_caught("viewer/main.cc", "int main() {}\n", "SPDX")

    def test_a_file_too_long_is_caught(self) -> None:
        self.assert_caught("viewer/main.cc", SPDX + "\n" * 400, "401 lines")

    def test_a_machine_path_is_caught(self) -> None:
        self.assert_caught("viewer/main.cc", SPDX + "// see /ro" + "ot/notes\n", "a path of one machine")

    def test_a_file_that_nothing_builds_is_caught(self) -> None:
        lists = {"profiler/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\nroom(model/block.cc)\n"}
        self.assertEqual(self.violations(lists), [])
        self.assertEqual(self.violations({**lists, "profiler/model/lock.cc": SPDX}), ["profiler/model/lock.cc:1: no CMakeLists.txt builds it"])


if __name__ == "__main__":
    unittest.main()
