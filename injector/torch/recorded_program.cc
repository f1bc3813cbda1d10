// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/recorded_program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

namespace vramscope::injector {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t Start(const std::vector<std::string>& command, const std::string& folder, const char* preload) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int out = open((folder + "/out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err = open((folder + "/err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  setenv("OMP_NUM_THREADS", "1", 1);
  if (preload == nullptr) {
    unsetenv(trace::kSessionVariable);
  } else {
    setenv("LD_PRELOAD", preload, 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

Outcome Collect(int status, const std::string& folder) {
  return {status, ReadAll(folder + "/out"), ReadAll(folder + "/err")};
}

}  // namespace

std::vector<std::vector<uint64_t>> Outcome::Facts(const std::string& name) const {
  std::vector<std::vector<uint64_t>> facts;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first != name) continue;
    facts.emplace_back();
    for (int64_t number; words >> number;) facts.back().push_back(static_cast<uint64_t>(number));
  }
  return facts;
}

std::string TestPython() {
  const char* const python = getenv("VRAMSCOPE_TEST_PYTHON");
  return python == nullptr ? "" : python;
}

std::vector<std::string> PythonCommand(const std::string& script, const std::vector<std::string>& options) {
  std::vector<std::string> command = {TestPython()};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(std::string(VRAMSCOPE_SOURCE_DIR) + "/injector/torch/testdata/" + script);
  return command;
}

Outcome RunBare(const std::vector<std::string>& command) {
  char folder[] = "/tmp/injector-test-XXXXXX";
  if (mkdtemp(folder) == nullptr) return {};
  int status = 0;
  waitpid(Start(command, folder, nullptr), &status, 0);
  const Outcome outcome = Collect(status, folder);
  for (const char* name : {"/out", "/err"}) unlink((std::string(folder) + name).c_str());
  rmdir(folder);
  return outcome;
}

Outcome RunRecorded(TestCollector& collector, const std::vector<std::string>& command) {
  const pid_t child = Start(command, collector.folder(), VRAMSCOPE_INJECTOR);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    collector.Drain();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  collector.Drain();
  return Collect(status, collector.folder());
}

std::vector<TestRecord> Between(const TestCollector& collector, uint64_t begin, uint64_t end) {
  std::vector<TestRecord> found;
  bool inside = false;
  for (const TestRecord& record : collector.Records()) {
    const bool is_mark = record.Is(trace::EventType::kMark) &&
                         record.field[trace::mark::kKind] == static_cast<uint64_t>(trace::MarkKind::kUser);
    if (is_mark && record.field[trace::mark::kValue] == begin) inside = true;
    if (is_mark && record.field[trace::mark::kValue] == end) inside = false;
    if (inside) found.push_back(record);
  }
  return found;
}

std::vector<TestRecord> Between(const TestCollector& collector, trace::EventType type, uint64_t begin,
                                uint64_t end) {
  std::vector<TestRecord> found = Between(collector, begin, end);
  std::erase_if(found, [type](const TestRecord& record) { return !record.Is(type); });
  return found;
}

trace::CoverageState StateOfHook(const TestCollector& collector, const std::string& name) {
  auto state = trace::CoverageState::kMissing;
  for (const TestRecord& record : collector.Of(trace::EventType::kCoverage)) {
    if (collector.Text(record, record.field[trace::coverage::kHook]) == name) {
      state = static_cast<trace::CoverageState>(record.field[trace::coverage::kState]);
    }
  }
  return state;
}

bool HasCoverage(const TestCollector& collector, const std::string& name) {
  for (const TestRecord& record : collector.Of(trace::EventType::kCoverage)) {
    if (collector.Text(record, record.field[trace::coverage::kHook]) == name) return true;
  }
  return false;
}

}  // namespace vramscope::injector
