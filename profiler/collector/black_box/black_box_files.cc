// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/black_box/black_box_files.h"

#include <utility>

#include "profiler/collector/output/trace_claim.h"
#include "trace_format/file_sink.h"

namespace vramscope::collector {
namespace {

constexpr size_t kMostFilesByItself = 8;

}  // namespace

BlackBoxFiles::BlackBoxFiles(TraceOutput& output, std::string wanted, std::function<void()> complete)
    : output_(output), wanted_(std::move(wanted)), complete_(std::move(complete)) {}

Status BlackBoxFiles::WriteInto(std::unique_ptr<trace::ByteSink> sink, const char* why) {
  complete_();
  output_.writer().SetMetadata("black_box.written_because", why);
  const Status status = output_.WriteBlackBox(std::move(sink));
  trouble_ = status.ok() ? "" : status.error().sentence;
  if (status.ok()) steps_before_last_ = output_.steps_before();
  return status;
}

Result<std::string> BlackBoxFiles::Write(const char* why) {
  const bool first_of_wanted = paths_.empty() && !wanted_.empty();
  Result<TraceClaim> claim = TraceClaim::Take(wanted_.empty() ? "run.vms" : wanted_,
                                              first_of_wanted ? OldTraces::kWriteOver : OldTraces::kLeave);
  if (!claim.ok()) {
    trouble_ = claim.error().sentence;
    return claim.error();
  }
  if (const Status status = WriteInto(claim->TakeSink(), why); !status.ok()) {
    claim->Discard();
    return status.error();
  }
  paths_.push_back(claim->path());
  return claim->path();
}

bool BlackBoxFiles::WriteAfterOutOfMemory() {
  if (!output_.TakeOutOfMemory() || paths_.size() >= kMostFilesByItself) return false;
  last_was_out_of_memory_ = Write("out of memory").ok();
  return last_was_out_of_memory_;
}

void BlackBoxFiles::Take(const std::vector<JobOrder>& orders) {
  waiting_.insert(waiting_.end(), orders.begin(), orders.end());
  std::erase_if(waiting_, [&](const JobOrder& order) {
    if (order.step > output_.steps_done()) return false;
    if (paths_.size() < kMostFilesByItself) {
      last_was_out_of_memory_ = false;
      static_cast<void>(Write(order.why.c_str()));  // see trouble()
    }
    return true;
  });
}

Result<std::string> BlackBoxFiles::WriteByOrder() {
  last_was_out_of_memory_ = false;
  return Write("order");
}

void BlackBoxFiles::WriteAtEnd() {
  const bool same_step = last_was_out_of_memory_ && output_.steps_before() == steps_before_last_;
  if (!same_step) {
    static_cast<void>(Write("the command failed"));  // see trouble()
  } else if (auto sink = trace::CreateFileSink(paths_.back()); sink.ok()) {
    static_cast<void>(WriteInto(std::move(sink).value(), "out of memory"));
  } else {
    trouble_ = sink.error().sentence;
  }
}

}  // namespace vramscope::collector
