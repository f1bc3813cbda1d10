# SPDX-License-Identifier: Apache-2.0
"""Prints "tests failures skipped" of a JUnit file that ctest wrote. A test that could not be started counts as failed."""

import sys
import xml.etree.ElementTree as ElementTree

suite = ElementTree.parse(sys.argv[1]).getroot()
cases = list(suite.iter("testcase"))
skipped = sum(case.find("skipped") is not None for case in cases)
passed = sum(case.get("status") == "run" for case in cases)
print(len(cases), len(cases) - passed - skipped, skipped)
