// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/black_box_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "profiler/collector/record.h"

namespace vramscope::collector {
namespace {

constexpr size_t kMostFilesByItself = 8;

}  // namespace

BlackBoxFiles::BlackBoxFiles(TraceOutput& output, std::string wanted, std::function<void()> complete)
    : output_(output), wanted_(std::move(wanted)), complete_(std::move(complete)) {}

Result<std::string> BlackBoxFiles::NextPath() const {
  if (wanted_.empty()) return ReserveOutput(".");
  if (paths_.empty()) return wanted_;
  const std::filesystem::path path(wanted_);
  return (path.parent_path() /
          fmt::format("{}-{}{}", path.stem().string(), paths_.size() + 1, path.extension().string()))
      .string();
}

Result<std::string> BlackBoxFiles::Write(const char* why, bool over_last) {
  const Result<std::string> path = over_last ? Result<std::string>(paths_.back()) : NextPath();
  if (!path.ok()) return path;
  complete_();
  output_.writer().SetMetadata("black_box.written_because", why);
  const Status status = output_.WriteBlackBox(*path);
  trouble_ = status.ok() ? "" : status.error().sentence;
  if (!status.ok()) return status.error();
  if (!over_last) paths_.push_back(*path);
  steps_before_last_ = output_.steps_before();
  return path;
}

void BlackBoxFiles::WriteAfterOutOfMemory() {
  if (!output_.TakeOutOfMemory() || paths_.size() >= kMostFilesByItself) return;
  last_was_out_of_memory_ = Write("out of memory", false).ok();
}

Result<std::string> BlackBoxFiles::WriteByOrder() {
  last_was_out_of_memory_ = false;
  return Write("order", false);
}

void BlackBoxFiles::WriteAtEnd() {
  const bool same_step = last_was_out_of_memory_ && output_.steps_before() == steps_before_last_;
  static_cast<void>(Write(same_step ? "out of memory" : "the command failed", same_step));  // see trouble()
}

}  // namespace vramscope::collector
