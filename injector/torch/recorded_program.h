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
  int status = 0;  // exit status, as from waitpid()
  std::string out;
  std::string err;

  // Returns the numbers of each line "NAME number number ..." in `out` that starts with `name`.
  std::vector<std::vector<uint64_t>> Facts(const std::string& name) const;
};

// Returns the path of the Python for tests, or "" if VRAMSCOPE_TEST_PYTHON is not set.
std::string TestPython();
// Returns the command that runs a script of testdata/ with the test Python and these options.
std::vector<std::string> PythonCommand(const std::string& script,
                                       const std::vector<std::string>& options = {});

Outcome RunBare(const std::vector<std::string>& command);
// Drains the rings continuously while the command runs.
Outcome RunRecorded(TestCollector& collector, const std::vector<std::string>& command);

// Returns the records between the script's marks `begin` and `end`: all records, or only those of one type.
std::vector<TestRecord> Between(const TestCollector& collector, uint64_t begin, uint64_t end);
std::vector<TestRecord> Between(const TestCollector& collector, trace::EventType type, uint64_t begin,
                                uint64_t end);

// The last recorded state of a hook.
trace::CoverageState StateOfHook(const TestCollector& collector, const std::string& name);
bool HasCoverage(const TestCollector& collector, const std::string& name);

}  // namespace vramscope::injector
