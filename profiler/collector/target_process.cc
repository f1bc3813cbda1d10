// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target_process.h"

#include <unistd.h>

#include <utility>

namespace vramscope::collector {

TargetProcess::TargetProcess(std::unique_ptr<RingFile> file, std::string path, std::shared_ptr<IdMap> id_map)
    : ids(std::move(id_map)), file_(std::move(file)), path_(std::move(path)), facts_(file_->facts()) {
  info.pid = facts_.pid;
  info.parent_pid = facts_.parent_pid;
}

void TargetProcess::SetEnded(uint64_t time_ns, int32_t exit_status) {
  if (ended_) return;
  ended_ = true;
  // The moment of a seen exec or exit mark is better than the moment at which we noticed.
  if (info.end_ns == 0) info.end_ns = time_ns;
  if (info.exit_status == -1) info.exit_status = exit_status;
}

void TargetProcess::Refresh() {
  if (retired()) return;
  const uint32_t count = file_->ring_count();
  while (rings.size() < count) {
    rings.push_back(std::make_unique<RingSource>(*file_, static_cast<uint32_t>(rings.size())));
  }
  for (const auto& ring : rings) ring->cursor.Refresh();
}

void TargetProcess::Retire() {
  if (retired()) return;
  rings.clear();
  file_.reset();
  if (!path_.empty()) unlink(path_.c_str());
}

uint64_t TargetProcess::TakeLossWithoutRing() {
  const uint64_t lost = file_->lost_without_ring();
  const uint64_t news = lost - reported_loss_;
  reported_loss_ = lost;
  return news;
}

}  // namespace vramscope::collector
