// SPDX-License-Identifier: Apache-2.0
// Treats any events as a run: its report and its leaks end in time and without a crash.
//
// Why events and not bytes of a file: checksums and columns keep a fuzzer out of the code after them, and
// trace_format/reader_fuzz.cc covers those. Here four bytes are one instruction, so a few of them nest a
// quarter of a million deep:
//
//   type │ kind, device │ name, id │ 2^n times, each with the next id
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/leaks/growth.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::leaks {
namespace {

using trace::Event;
using trace::EventType;

constexpr size_t kInstruction = 4;
constexpr size_t kMostEvents = size_t{1} << 18;

class WrittenRun final : public model::Source {
 public:
  explicit WrittenRun(std::span<const uint8_t> bytes) {
    for (; bytes.size() >= kInstruction && events_.size() < kMostEvents; bytes = bytes.subspan(kInstruction))
      Append(bytes[0], bytes[1], bytes[2], bytes[3]);
  }

  const trace::TraceClock& clock() const override { return clock_; }
  const std::vector<trace::ProcessInfo>& processes() const override { return processes_; }
  const std::vector<trace::ThreadInfo>& threads() const override { return threads_; }
  const trace::Metadata& metadata() const override { return metadata_; }
  const trace::Damage& damage() const override { return damage_; }
  uint64_t event_count() const override { return events_.size(); }
  std::string_view String(trace::StringId id) const override { return kNames[id % std::size(kNames)]; }
  std::vector<trace::StringId> Stack(trace::StackId id) const override {
    return std::vector<trace::StringId>(id % 5, id);
  }
  Status ForEachBatch(const Visit& visit) const override {
    visit(events_);
    return {};
  }

 private:
  static constexpr std::string_view kNames[] = {"",      "layers.0.attn", "aten::mm", "train.py:7 step",
                                                "AdamW", "a.b.c.d.e.f"};

  void Append(uint8_t type, uint8_t what, uint8_t name, uint8_t times) {
    const size_t count = std::min(size_t{1} << (times % 19), kMostEvents - events_.size());
    for (size_t i = 0; i < count; ++i) {
      Event event;
      event.type = static_cast<EventType>(type % trace::kEventTypeCount);
      event.thread = type / trace::kEventTypeCount % 4;  // one of them is undefined
      event.time_ns = time_ns_ += what;
      const bool memory = event.type == EventType::kAlloc || event.type == EventType::kFree;
      const uint64_t id = ++id_;
      if (memory || event.type == EventType::kSaved || event.type == EventType::kLabel) {
        event.field[0] = 512 * (1 + (times % 2 == 0 ? id : name) % 4096);
        event.field[1] = 512 * uint64_t{name};
        event.field[2] = trace::DeviceCode(what % 2, what / 2 % 3);
      } else {
        event.field[0] = what;
        event.field[1] = name;
        event.field[2] = times % 2 == 0 ? id : name;
      }
      events_.push_back(event);
    }
  }

  trace::TraceClock clock_;
  std::vector<trace::ProcessInfo> processes_ = {{.pid = 1}, {.pid = 2, .parent_pid = 1, .exit_status = 1}};
  std::vector<trace::ThreadInfo> threads_ = {{.process = 0}, {.process = 0}, {.process = 1}};
  trace::Metadata metadata_;
  trace::Damage damage_;
  std::vector<Event> events_;
  uint64_t time_ns_ = 0;
  uint64_t id_ = 0;
};

}  // namespace
}  // namespace vramscope::leaks

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramscope;
  const Result<model::Run> run = model::Load(std::make_shared<leaks::WrittenRun>(std::span(data, size)));
  if (!run.ok()) return 0;
  const classify::Analysis analysis(*run);
  const Result<report::Answer> answer = report::BuildAnswer(analysis, {});
  if (answer.ok() && report::ToJson(*answer).empty()) std::abort();
  if (!answer.ok() && answer.error().sentence.empty()) std::abort();
  (void)leaks::FindGrowth(analysis, {});
  return 0;
}
