// SPDX-License-Identifier: Apache-2.0
// One recorded process image: its ring file, a reader for each of its rings, its ids and its totals.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/order/id_map.h"
#include "profiler/collector/order/memory_totals.h"
#include "profiler/collector/order/ring_cursor.h"
#include "profiler/collector/order/ring_file.h"
#include "trace_format/writer.h"

namespace vramscope::collector {

struct RingSource {
  RingSource(const RingFile& file, uint32_t index)
      : cursor(file.ring(index), file.ring_data(index), file.facts().ring_bytes) {}

  RingCursor cursor;
  bool thread_known = false;
  uint32_t thread = 0;      // of the trace
  uint32_t generation = 0;  // of the ring, when `thread` was added
  uint64_t last_ns = 0;     // records of one ring keep their order even if their ticks do not
  uint64_t broken_bytes_reported = 0;
};

class TargetProcess {
 public:
  TargetProcess(std::unique_ptr<RingFile> file, std::string path, std::shared_ptr<IdMap> ids);

  // The process has ended, or continued by exec. The next pass reads its rings to the end.
  void SetEnded(uint64_t time_ns, int32_t exit_status);
  [[nodiscard]] bool ended() const { return ended_; }

  // Finds new rings, and reads how far all rings have published.
  void Refresh();

  // Call when the file is read to the end. Unmaps and removes the file.
  void Retire();
  [[nodiscard]] bool retired() const { return file_ == nullptr; }

  [[nodiscard]] const RingFile& file() const { return *file_; }
  [[nodiscard]] const RingFileFacts& facts() const { return facts_; }
  // Records dropped since the last call by threads without a ring.
  uint64_t TakeLossWithoutRing();

  std::vector<std::unique_ptr<RingSource>> rings;
  std::shared_ptr<IdMap> ids;
  ProcessMemory memory;
  trace::ProcessInfo info;
  uint32_t trace_process = 0;
  std::optional<uint32_t> ringless_thread;       // for all threads without a ring
  std::map<uint64_t, uint64_t> optimizer_steps;  // by the optimizer's identity, since recording began
  // The image ended by exec, unless other events follow.
  bool last_event_was_exec = false;

 private:
  std::unique_ptr<RingFile> file_;
  std::string path_;  // empty: not ours to remove
  RingFileFacts facts_;
  bool ended_ = false;
  uint64_t reported_loss_ = 0;
};

}  // namespace vramscope::collector
