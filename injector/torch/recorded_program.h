// SPDX-License-Identifier: Apache-2.0
// Runs a program under the built injector, for tests that need a real PyTorch. VRAMSCOPE_TEST_PYTHON names a
// Python that can import torch. Without it, tests are skipped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "injector/core/test_collector.h"

namespace vramscope::injector {

struct Outcome {
  int status = 0;  // as waitpid gives it
  std::string out;
  std::string err;

  // The lines "name number number ..." in `out`, as numbers.
  std::vector<std::vector<uint64_t>> Facts(const std::string& name) const;
};

// The Python to test with, "" if none was named.
std::string TestPython();
// Python, its options, and a script of testdata/.
std::vector<std::string> PythonCommand(const std::string& script,
                                       const std::vector<std::string>& options = {});

Outcome RunBare(const std::vector<std::string>& command);
// Drains the rings continuously while the command runs.
Outcome RunRecorded(TestCollector& collector, const std::vector<std::string>& command);

// Records between the script's marks `begin` and `end`, or of one type.
std::vector<TestRecord> Between(const TestCollector& collector, uint64_t begin, uint64_t end);
std::vector<TestRecord> Between(const TestCollector& collector, trace::EventType type, uint64_t begin,
                                uint64_t end);

// The last recorded state of a hook.
trace::CoverageState StateOfHook(const TestCollector& collector, const std::string& name);
bool HasCoverage(const TestCollector& collector, const std::string& name);

}  // namespace vramscope::injector
