// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/target_process.h"

#include <unistd.h>

#include <utility>

#include "profiler/collector/order/ring_room.h"
#include "profiler/collector/target/process_facts.h"

namespace vramscope::collector {

TargetProcess::TargetProcess(std::unique_ptr<RingFile> file, std::string path, std::shared_ptr<IdMap> id_map)
    : ids(std::move(id_map)), file_(std::move(file)), path_(std::move(path)), facts_(file_->facts()) {
  info.pid = PidHere(facts_.identity());
  // The parent's pid is in the process's own namespace, and is 0 if the parent is outside of it.
  info.parent_pid = info.pid == facts_.pid ? facts_.parent_pid : ParentOf(info.pid);
}

void TargetProcess::SetEnded(uint64_t time_ns, int32_t exit_status) {
  if (ended_) return;
  ended_ = true;
  // The time of a recorded exec or exit mark is better than the time at which we noticed.
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
  const uint64_t taken = trace::RingOffset(file_->ring_count(), facts_.ring_bytes);
  rings.clear();
  file_.reset();
  if (path_.empty()) return;
  unlink(path_.c_str());
  GiveBackRingRoom(path_.substr(0, path_.rfind('/')), taken);
}

uint64_t TargetProcess::TakeLossWithoutRing() {
  const uint64_t lost = file_->lost_without_ring();
  const uint64_t news = lost - reported_loss_;
  reported_loss_ = lost;
  return news;
}

}  // namespace vramscope::collector
