// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/subject_file.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "profiler/cli/progress.h"
#include "profiler/cli/terminal.h"
#include "profiler/fragmentation/snapshot_subject.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/snapshot/read.h"

namespace vramscope::cli {
namespace {

// The number of "cuda:0".
std::optional<uint32_t> NumberOfDevice(std::string_view name) {
  uint32_t number = 0;
  if (!name.starts_with("cuda:")) return std::nullopt;
  name.remove_prefix(5);
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

Error In(const std::string& path, const Error& error) { return Error{path + ": " + error.sentence}; }

Result<fragmentation::Subject> FromSnapshot(const std::string& path, const Arguments& arguments) {
  std::optional<uint32_t> device;
  if (arguments.Has("process")) return Error{"--process is for traces; a snapshot is of one process."};
  if (arguments.Has("device")) {
    const std::string name = arguments.Get("device");
    device = NumberOfDevice(name);
    if (!device.has_value()) return Error{"--device is a name like cuda:0, not \"" + Printable(name) + "\"."};
  }
  auto snapshot = snapshot::Read(path);
  if (!snapshot.ok()) return snapshot.error();
  auto subject = fragmentation::SubjectOf(*snapshot, device);
  if (!subject.ok()) return In(path, subject.error());
  return subject;
}

}  // namespace

Result<std::unique_ptr<SubjectFile>> OpenSubject(const std::string& path, const Arguments& arguments) {
  auto file = std::make_unique<SubjectFile>();
  if (snapshot::LooksLikeSnapshot(path)) {
    auto subject = FromSnapshot(path, arguments);
    if (!subject.ok()) return subject.error();
    file->subject = std::move(subject).value();
    return file;
  }
  std::optional<uint32_t> pid;
  if (arguments.Has("process")) {
    const auto number = NumberOf(arguments, "process");
    if (!number.ok()) return number.error();
    pid = *number;
  }
  std::optional<std::string> device;
  if (arguments.Has("device")) device = arguments.Get("device");
  auto run = LoadTrace(path, arguments);
  if (!run.ok()) return run.error();
  file->run = std::make_unique<model::Run>(std::move(run).value());
  file->analysis = std::make_unique<classify::Analysis>(*file->run);
  auto subject = fragmentation::SubjectOf(*file->analysis, device, pid);
  if (!subject.ok()) return In(path, subject.error());
  file->subject = std::move(subject).value();
  return file;
}

}  // namespace vramscope::cli
