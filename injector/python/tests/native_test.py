#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions that the injector creates for the shim (injector/core/python_calls.cc): what they record, and that they raise an exception for what
they cannot record. Runs with every installed Python, because the injector is built without Python's headers. No torch needed."""

import unittest

import harness
from start_test import pythons

PROGRAM = """
    import gc, sys
    from vramscope_core import native

    assert native.connect()
    window = native.Range(native.Kind.SCOPE, "a window", 2**64 - 1)
    window.begin(), window.end()
    numbered = native.NumberedRange(native.Kind.CHECKPOINT, "numbered")
    numbered.begin(7), numbered.end(2**63)
    step = native.StepRange("Adam", 5)
    step.begin(), step.done(3)
    native.moment(native.Mark.USER, "a mark", 9)(True)
    native.label(native.Role.INPUT, native.Source.DATA_LOADER, 2**48, 2**40, native.intern("x"), 11)
    print(native.step_done(1), native.step_done(2))

    for call in (lambda: window.begin(1), lambda: numbered.begin(), lambda: numbered.begin(-1), lambda: numbered.end(2**64),
                 lambda: step.done("3"), lambda: native.step_done(None), lambda: native.label(1, 2, 3), lambda: native.label(*"123456")):
        try:
            call()
            print("no exception")
        except (TypeError, OverflowError):
            pass

    before = sys.getrefcount(None)
    for _ in range(1000):
        window.begin(), numbered.begin(1), native.label(1, 2, 3, 4, 5, 6), native.Range(native.Kind.SCOPE, "a window")
    gc.collect()
    print("keeps references" if abs(sys.getrefcount(None) - before) > 100 else "keeps none")
"""


class NativeTest(unittest.TestCase):
    def test_calls_record_and_refuse(self) -> None:
        for python in pythons():
            with self.subTest(python=python):
                done = harness.run(PROGRAM, python=python, environment={"VRAMSCOPE_STUB_DEEP": "2-2"})
                self.assertEqual((done.stdout, done.stderr), ("1 0\nkeeps none\n", ""))
                said = [(event.what, event.number, event.name) for event in done.events[:9]]
                self.assertEqual(
                    said,
                    [
                        ("begin", [harness.SCOPE, 2**64 - 1], "a window"),
                        ("end", [harness.SCOPE, 2**64 - 1], "a window"),
                        ("begin", [harness.CHECKPOINT, 7], "numbered"),
                        ("end", [harness.CHECKPOINT, 2**63], "numbered"),
                        ("begin", [harness.OPTIMIZER, 5], "Adam"),
                        ("end", [harness.OPTIMIZER, 5], "Adam"),
                        ("mark", [harness.MARK_STEP_DONE, 3, 5], "Adam"),
                        ("mark", [harness.MARK_USER, 1, 9], "a mark"),
                        ("label", [harness.INPUT, 4, 2**48, 2**40, 11], "x"),
                    ],
                )


if __name__ == "__main__":
    unittest.main()
