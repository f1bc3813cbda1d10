# SPDX-License-Identifier: Apache-2.0
"""Every rule of check_docs.py catches a page that breaks it, and a clean tree passes."""
import os
import sys
import tempfile
import unittest
from typing import Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import check_docs  # noqa: E402

CLEAN = {
    "README.md": "# One\n\n[page](docs/page.md), [part](docs/page.md#a-part-with-code-1), [folder](docs), [web](https://example.org/none)\n",
    "docs/page.md": "# Page\n\n## A *part* with `code`!\n\n## A part with code\n\n[up](../README.md#one) [here](#page)\n\n```sh\n[no](link.md)\n```\n",
}


class CheckDocsTest(unittest.TestCase):
    def faults(self, changed: Dict[str, str]) -> List[str]:
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **changed}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return [str(fault) for fault in check_docs.check(root)]

    def test_a_clean_tree_passes(self) -> None:
        self.assertEqual(self.faults({}), [])

    def test_links_to_nowhere_are_caught(self) -> None:
        self.assertEqual(self.faults({"docs/a.md": "# A\n\n[x](page.md) [y](paeg.md)\n"}), ["docs/a.md:3: the link paeg.md leads to no file"])
        self.assertEqual(self.faults({"docs/a.md": "![x](images/none.png)\n"}), ["docs/a.md:1: the link images/none.png leads to no file"])
        self.assertEqual(self.faults({"docs/a.md": "[x](page.md#part)\n"}), ["docs/a.md:1: the link page.md#part leads to no heading"])
        self.assertEqual(self.faults({"docs/a.md": "# A\n[x](#b)\n"}), ["docs/a.md:2: the link #b leads to no heading"])

    def test_commands_that_are_not_there_are_caught(self) -> None:
        tree = {"bench/CMakeLists.txt": "add_executable(grow grow_main.cc)\n", "bench/load_bench.cc": "", "scripts/go.sh": ""}
        there = "`scripts/go.sh --all`, `build/release/bench/load_bench`\n\n```sh\nbuild/dev/bench/grow scripts/*.sh\n```\n"
        self.assertEqual(self.faults({**tree, "docs/a.md": there}), [])
        self.assertEqual(self.faults({**tree, "docs/a.md": "`build/release/bench/save_bench`\n\nSee scripts/stay.sh.\n"}),
                         ["docs/a.md:1: there is no build/release/bench/save_bench", "docs/a.md:3: there is no scripts/stay.sh"])

    def test_a_page_that_the_menu_lacks_is_caught(self) -> None:
        self.assertEqual(self.faults({"mkdocs.yml": "nav:\n  - Page: page.md\n"}), [])
        self.assertEqual(self.faults({"mkdocs.yml": "nav:\n  - Page: pages.md\n"}), ["docs/page.md:1: the menu in mkdocs.yml does not list this page"])

    def test_long_cells_are_caught_by_what_is_read(self) -> None:
        address = "x" * 150 + ".md"
        self.assertEqual(self.faults({f"docs/{address}": "", "docs/a.md": f"| [{'word ' * 30}end]({address}) | {'b' * 160} |\n"}), [])
        found = self.faults({"docs/a.md": f"| a | {'b' * 161} |\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("docs/a.md:1: a cell of 161 characters", found[0])

    def test_long_sentences_are_caught_where_newcomers_read(self) -> None:
        words = "word " * 30
        self.assertEqual(self.faults({"docs/questions/a.md": f"{words}end of it.\n", "docs/b.md": f"{words}end of it.\n"}),
                         ["docs/questions/a.md:1: a sentence of 33 words, at most 30: word word word word word word ..."])
        self.assertEqual(self.faults({"docs/questions/a.md": f"{words.strip()}. Another one\nwith `{words}` in it.\n- {words}\n"}), [])
        self.assertEqual(len(self.faults({"docs/questions/a.md": f"Some words\n{words}\n"})), 1)


if __name__ == "__main__":
    unittest.main()
