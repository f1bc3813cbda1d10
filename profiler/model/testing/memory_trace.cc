// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/testing/memory_trace.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::model::testing {

trace::StringId MemoryTrace::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const auto [entry, fresh] = ids_.emplace(text, static_cast<trace::StringId>(strings_.size()));
  if (fresh) strings_.emplace_back(text);
  return entry->second;
}

trace::StackId MemoryTrace::InternStack(const std::vector<std::string>& frames) {
  std::vector<trace::StringId> ids;
  for (const std::string& frame : frames) ids.push_back(Intern(frame));
  const auto known = std::find(stacks_.begin(), stacks_.end(), ids);
  if (known != stacks_.end()) return static_cast<trace::StackId>(known - stacks_.begin());
  stacks_.push_back(std::move(ids));
  return static_cast<trace::StackId>(stacks_.size() - 1);
}

uint32_t MemoryTrace::AddProcess(const trace::ProcessInfo& info) {
  processes_.push_back(info);
  return static_cast<uint32_t>(processes_.size() - 1);
}

uint32_t MemoryTrace::AddThread(const trace::ThreadInfo& info) {
  threads_.push_back(info);
  return static_cast<uint32_t>(threads_.size() - 1);
}

std::string_view MemoryTrace::String(trace::StringId id) const {
  return id < strings_.size() ? std::string_view(strings_[id]) : std::string_view();
}

std::vector<trace::StringId> MemoryTrace::Stack(trace::StackId id) const {
  return id < stacks_.size() ? stacks_[id] : std::vector<trace::StringId>();
}

Status MemoryTrace::ForEachBatch(const Visit& visit) const {
  constexpr size_t kBatch = 1000;  // an odd size, so that batch ends fall anywhere
  const std::span<const trace::Event> all(events_);
  for (size_t i = 0; i < all.size(); i += kBatch) {
    if (!visit(all.subspan(i, std::min(kBatch, all.size() - i)))) break;
  }
  return {};
}

std::vector<trace::LiveBlock> MemoryTrace::LiveAt(uint64_t time_ns) const {
  size_t end = 0;  // one past the last event with time <= time_ns
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].time_ns <= time_ns) end = i + 1;
  }
  std::map<std::pair<uint32_t, uint64_t>, trace::LiveBlock> live;
  uint64_t number = 0;
  for (size_t i = 0; i < end; ++i) {
    const trace::Event& event = events_[i];
    const uint32_t process = threads_[event.thread].process;
    const std::pair key{process, event.field[0]};
    if (event.type == trace::EventType::kAlloc) {
      live[key] = {++number,
                   event.field[trace::alloc::kAddress],
                   event.field[trace::alloc::kSize],
                   event.field[trace::alloc::kDevice],
                   event.time_ns,
                   process};
    } else if (event.type == trace::EventType::kFree) {
      live.erase(key);
    }
  }
  std::vector<trace::LiveBlock> blocks;
  for (const auto& [key, block] : live) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return blocks;
}

}  // namespace vramscope::model::testing
