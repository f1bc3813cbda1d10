// SPDX-License-Identifier: Apache-2.0
// What the collector knows about one recorded process: its ring file, a reader for each ring, its ids and its
// memory totals. After exec, the process gets a new TargetProcess.
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
  uint32_t thread = 0;      // index of the thread in the trace; valid if thread_known
  uint32_t generation = 0;  // the ring's generation when `thread` was added; a new thread changes it
  uint64_t last_ns = 0;     // time of the last record; a later record never gets an earlier time
  uint64_t broken_bytes_reported = 0;
};

class TargetProcess {
 public:
  TargetProcess(std::unique_ptr<RingFile> file, std::string path, std::shared_ptr<IdMap> ids);

  // Call when the process has ended or has called exec. The next pass reads the process's rings to the end.
  void SetEnded(uint64_t time_ns, int32_t exit_status);
  [[nodiscard]] bool ended() const { return ended_; }

  // Finds new rings, and reads up to which position each ring has records.
  void Refresh();

  // Call when all rings are read to the end. Unmaps and deletes the ring file.
  void Retire();
  [[nodiscard]] bool retired() const { return file_ == nullptr; }

  [[nodiscard]] const RingFile& file() const { return *file_; }
  [[nodiscard]] const RingFileFacts& facts() const { return facts_; }
  // Returns how many records threads without a ring have dropped since the last call.
  uint64_t TakeLossWithoutRing();

  std::vector<std::unique_ptr<RingSource>> rings;
  std::shared_ptr<IdMap> ids;
  ProcessMemory memory;
  trace::ProcessInfo info;
  uint32_t trace_process = 0;
  std::optional<uint32_t> ringless_thread;       // thread of the trace for losses of threads without a ring
  std::map<uint64_t, uint64_t> optimizer_steps;  // optimizer's id -> its steps since the recording began
  // True if the last event was a call of exec. If another event follows, the exec failed.
  bool last_event_was_exec = false;

 private:
  std::unique_ptr<RingFile> file_;
  std::string path_;  // path of the ring file; empty = do not delete the file
  RingFileFacts facts_;
  bool ended_ = false;
  uint64_t reported_loss_ = 0;
};

}  // namespace vramscope::collector
