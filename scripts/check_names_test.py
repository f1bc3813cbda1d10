# SPDX-License-Identifier: Apache-2.0
"""check_names.py finds a planted clash, and accepts what two files may both define."""

import os
import sys
import tempfile
import unittest
from typing import Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import check_names

CLEAN = {
    "profiler/a.h": """
        #pragma once
        namespace vramscope::model {
        class Later;
        struct Row { int number = 0; struct Part { int x; }; };
        enum class Kind : int { kOne, kTwo };
        template <typename T> struct Hash;
        template <> struct Hash<Row> { int value; };
        inline int Twice(int x) { return 2 * x; }
        template <typename T>
        T Largest(T a, T b) { return a < b ? b : a; }
        int Count(const Row& row, int limit = 3);
        }
        """,
    "profiler/b.cc": """
        #include "profiler/a.h"
        namespace vramscope::model {
        namespace {
        struct Own { int x; };  // in each file that wants one
        int Helper() { return R"(a { in a text)"[0] + '{' + 1'000; }
        }
        static int Hidden() { return 1; }
        template <> struct Hash<int> { int value; };
        int Count(const Row& row, int limit) { struct Local { int x; }; return Local{row.number}.x + limit; }
        int Count(double x) { auto f = [&](int y) { return y; }; return f(static_cast<int>(x)); }
        }
        #define SHOWN extern "C" __attribute__((visibility("default")))
        SHOWN int hooked(int x) { return x; }
        extern "C" { int stand_in() { return 0; } }
        int main(int argc, char** argv) { return argc; }
        """,
    "profiler/c.cc": """
        namespace vramscope::model {
        namespace {
        struct Own { long y; };
        int Helper() { return 2; }
        }
        static int Hidden() { return 2; }
        struct Outer { struct Row { int x; }; };
        }
        namespace vramscope::report { struct Row { int x; }; }
        SHOWN int hooked(int x) { return x; }
        extern "C" int stand_in() { return 0; }
        int main() { return 0; }
        """,
}


class CheckNamesTest(unittest.TestCase):
    def clashes(self, planted: str) -> List[str]:
        files: Dict[str, str] = {**CLEAN, "profiler/z.cc": planted}
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return check_names.check(root)

    def assert_caught(self, planted: str, line: int, name: str, where: str) -> None:
        self.assertEqual(self.clashes(planted), [f"profiler/z.cc:{line}: {name} is also defined in {where}"])

    def test_names_that_differ_pass(self) -> None:
        self.assertEqual(self.clashes(""), [])
        self.assertEqual(self.clashes("namespace vramscope::model { struct Row; enum class Kind : int; int Count(const Row&, int); }"), [])

    def test_a_type_that_another_file_defines_is_caught(self) -> None:
        self.assert_caught("namespace vramscope::model {\nstruct Row { long other; };\n}", 2, "vramscope::model::Row", "profiler/a.h:5")
        self.assert_caught("namespace vramscope { namespace model {\n\nclass [[nodiscard]] Row final : public Base { };\n} }", 3, "vramscope::model::Row",
                           "profiler/a.h:5")
        self.assert_caught("namespace vramscope::model { enum Kind { kThree }; }", 1, "vramscope::model::Kind", "profiler/a.h:6")
        self.assert_caught("TABLE(ROWS)\nstruct vramscope::report::Row { int y; };", 2, "vramscope::report::Row", "profiler/c.cc:10")

    def test_a_specialization_for_the_same_type_is_caught(self) -> None:
        self.assert_caught("namespace vramscope::model { template <> struct Hash<int> { }; }", 1, "vramscope::model::Hash<int>", "profiler/b.cc:9")

    def test_a_function_with_the_same_parameters_is_caught(self) -> None:
        self.assert_caught("namespace vramscope::model {\nint Count(const Row& other, int most)\n{ return 0; }\n}", 2,
                           "vramscope::model::Count(const Row&, int)", "profiler/b.cc:10")
        self.assertEqual(self.clashes("namespace vramscope::model { int Count(const Row& row, long limit) { return 0; } }"), [])

    def test_an_inline_function_that_another_file_defines_is_caught(self) -> None:
        for inline in ("inline", "constexpr"):
            self.assert_caught(f"namespace vramscope::model {{\n{inline} int Twice(int y) {{ return y + y; }}\n}}", 2, "vramscope::model::Twice(int)",
                               "profiler/a.h:9")


if __name__ == "__main__":
    unittest.main()
