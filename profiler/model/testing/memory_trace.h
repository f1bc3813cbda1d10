// SPDX-License-Identifier: Apache-2.0
// A trace in memory, for tests that need no file. Tests append events and read them through the Source
// interface.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/model/source.h"

namespace vramscope::model::testing {

class MemoryTrace final : public Source {
 public:
  // Returns the id of a text. Equal texts get the same id; "" gets 0.
  trace::StringId Intern(std::string_view text);
  // Returns the id of a stack. `frames` go from outermost to innermost.
  trace::StackId InternStack(const std::vector<std::string>& frames);
  uint32_t AddProcess(const trace::ProcessInfo& info);
  uint32_t AddThread(const trace::ThreadInfo& info);
  void Append(const trace::Event& event) { events_.push_back(event); }
  void SetMetadata(const std::string& key, const std::string& value) { metadata_[key] = value; }
  void SetDamage(const trace::Damage& damage) { damage_ = damage; }
  void SetExitStatus(uint32_t process, int32_t status) { processes_[process].exit_status = status; }
  void SetClock(const trace::TraceClock& clock) { clock_ = clock; }
  [[nodiscard]] const std::vector<trace::Event>& events() const { return events_; }

  const trace::TraceClock& clock() const override { return clock_; }
  const std::vector<trace::ProcessInfo>& processes() const override { return processes_; }
  const std::vector<trace::ThreadInfo>& threads() const override { return threads_; }
  const trace::Metadata& metadata() const override { return metadata_; }
  const trace::Damage& damage() const override { return damage_; }
  uint64_t event_count() const override { return events_.size(); }
  std::string_view String(trace::StringId id) const override;
  std::vector<trace::StringId> Stack(trace::StackId id) const override;
  Status ForEachBatch(const Visit& visit) const override;
  // Returns the blocks that are alive at `time_ns`. Reads all events: slow, but independent of the code under
  // test.
  [[nodiscard]] std::vector<trace::LiveBlock> LiveAt(uint64_t time_ns) const;

 private:
  trace::TraceClock clock_;
  std::vector<trace::ProcessInfo> processes_;
  std::vector<trace::ThreadInfo> threads_;
  trace::Metadata metadata_;
  trace::Damage damage_;
  std::vector<trace::Event> events_;
  std::vector<std::string> strings_ = {""};
  std::unordered_map<std::string, trace::StringId> ids_;
  std::vector<std::vector<trace::StringId>> stacks_ = {{}};
};

}  // namespace vramscope::model::testing
