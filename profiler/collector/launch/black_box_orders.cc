// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/black_box_orders.h"

#include <utility>

namespace vramscope::collector {

BlackBoxOrders::BlackBoxOrders(const std::string& session, const std::string& wanted, TraceOutput& output,
                               Recorder& recorder)
    : output_(output), files_(output, wanted, [&recorder] { recorder.drain().WriteSummary(); }) {
  if (Result<ControlSocket> listening = ControlSocket::Listen(session); listening.ok())
    control_.emplace(std::move(listening).value());
  if (wanted.find('/') != std::string::npos) job_.emplace(wanted);
  recorder.AfterEachTurn(control_ ? control_->descriptor() : -1, [this] {
    const bool written = files_.WriteAfterOutOfMemory();
    if (job_) {
      if (written) static_cast<void>(job_->Send(0, "another rank of the job ran out of memory"));
      files_.Take(job_->TakeNew(MonotonicNs()));
    }
    if (!control_) return;
    control_->Serve([this](const std::string& order) -> Result<std::string> {
      if (order == "dump") return files_.WriteByOrder();
      return Error{"A recording accepts only the command dump."};
    });
  });
}

void BlackBoxOrders::Finish(bool failed, RecordOutcome& outcome) {
  outcome.is_black_box = true;
  if (failed) files_.WriteAtEnd();
  outcome.black_boxes = files_.paths();
  outcome.path = files_.paths().empty() ? "" : files_.paths().back();
  if (!files_.trouble().empty()) outcome.stop_sentence = files_.trouble();
  outcome.events = output_.events();
  outcome.file_bytes = output_.bytes();
}

}  // namespace vramscope::collector
