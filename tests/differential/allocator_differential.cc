// SPDX-License-Identifier: Apache-2.0
// Compares our allocator with PyTorch's own. Passes the requests of random_program.py's log to the model.
// Compares every address, all statistics after every operation, and every event in PyTorch's history.
//
// Usage: allocator_differential LOG [SETTINGS]. Exit 0: no difference; 1: prints the first one with the
// operations before it. SETTINGS: PyTorch's results for random settings strings (settings_comparison.h).
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "profiler/allocator/device_allocator.h"
#include "tests/differential/device_model.h"
#include "tests/differential/settings_comparison.h"
#include "tests/differential/stream_events.h"

namespace vramscope::allocator {
namespace {

enum Code : uint64_t {
  kAlloc,
  kFree,
  kRecordStream,
  kEmptyCache,
  kSetFraction,
  kLaunch,
  kSynchronize,
  kMakePool,
  kDropPool,
  kBeginPool,
  kEndPool,
  kBeginCapture,
  kEndCapture,
  kDropGraph,
  kBallast,
  kDropBallast,
  kPhase,
  kEvents,
  kEnd
};
constexpr const char* kNames[] = {"alloc",        "free",       "record_stream", "empty_cache",
                                  "set_fraction", "launch",     "synchronize",   "make_pool",
                                  "drop_pool",    "begin_pool", "end_pool",      "begin_capture",
                                  "end_capture",  "drop_graph", "ballast",       "drop_ballast"};
constexpr const char* kActions[] = {"alloc",         "free_requested", "free_completed",
                                    "segment_alloc", "segment_free",   "segment_map",
                                    "segment_unmap", "snapshot",       "oom"};
constexpr const char* kCounters[] = {"allocated_bytes", "active_bytes",         "requested_bytes",
                                     "reserved_bytes",  "inactive_split_bytes", "allocation",
                                     "active",          "inactive_split",       "segment"};
constexpr const char* kGroups[] = {"all", "small_pool", "large_pool"};
constexpr const char* kScalars[] = {"num_alloc_retries",    "num_ooms",         "num_oom_rejections",
                                    "num_sync_all_streams", "num_device_alloc", "num_device_free",
                                    "oversize_allocations", "oversize_segments"};
constexpr size_t kStatistics = 9 * 3 * 2 + 8;

[[noreturn]] void Die(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  std::exit(1);
}

class Log {
 public:
  explicit Log(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    words_.resize(bytes.size() / 8);
    std::memcpy(words_.data(), bytes.data(), words_.size() * 8);
  }
  uint64_t Take() {
    if (at_ >= words_.size()) Die("the log is cut off");
    return words_[at_++];
  }
  std::string TakeText() {
    std::string text(Take() * 8, ' ');
    for (size_t i = 0; i < text.size(); i += 8) {
      const uint64_t word = Take();
      std::memcpy(text.data() + i, &word, 8);
    }
    return text;
  }

 private:
  std::vector<uint64_t> words_;
  size_t at_ = 0;
};

class Comparison : private Listener {
 public:
  explicit Comparison(const char* path) : log_(path) {
    const auto major = log_.Take(), minor = log_.Take();
    release_ = &ReleaseOf(std::to_string(major) + "." + std::to_string(minor));
    device_bytes_ = log_.Take();
    const uint64_t lowest = log_.Take(), free_bytes = log_.Take(), streams = log_.Take();
    for (uint64_t i = 0; i < streams; ++i) handles_.push_back(log_.Take());
    clock_ = std::make_unique<Clock>(streams);
    events_ = std::make_unique<StreamEvents>(*clock_, streams);
    driver_ = std::make_unique<SimulatedDriver>(lowest, free_bytes, *clock_);
  }

  [[nodiscard]] const Release& release() const { return *release_; }

  void Run() {
    for (uint64_t code = log_.Take(); code != kEnd; code = log_.Take()) {
      if (code == kPhase) {
        BeginPhase();
      } else if (code == kEvents) {
        CompareEvents();
      } else {
        Operate(code);
      }
    }
    std::printf("PyTorch %s rules: %" PRIu64 " operations, %" PRIu64 " allocations (%" PRIu64
                " out of memory), %" PRIu64 " events, %zu settings: no difference\n",
                std::string(release_->name).c_str(), operations_, allocations_, ooms_, events_seen_,
                phases_.size());
  }

 private:
  void OnEvent(const Event& event) override {
    if (event.action == Action::kSegmentUnmap) clock_->Synchronize(event.stream);
    Event told = event;
    if (told.action == Action::kOutOfMemory) told.address = 0;
    told_.push_back(told);
  }
  void OnFallbackLeft(PoolIndex pool) override {
    if (settings_.graph_capture_record_stream_reuse) events_->LeavePool(*model_, pool);
  }

  void BeginPhase() {
    phases_.push_back(log_.TakeText());
    const Result<Settings> settings = ChangeSettings(settings_, phases_.back(), *release_);
    if (!settings.ok()) Die(settings.error().sentence);
    settings_ = *settings;
    if (model_ != nullptr) {  // ranges without any mapping survive an emptied cache
      model_->SetSettings(settings_);
      model_->ResetStatistics();
      return;
    }
    model_ = std::make_unique<DeviceAllocator>(*release_, settings_, device_bytes_, *driver_);
    model_->SetListener(this);
    for (size_t i = 1; i < handles_.size(); ++i) (void)model_->AddStream(handles_[i]);
  }

  void Operate(uint64_t code) {
    const uint64_t a = log_.Take(), b = log_.Take(), c = log_.Take(), result = log_.Take();
    ++operations_;
    operation_ = std::string(kNames[code]) + "(" + std::to_string(a) + ", " + std::to_string(b) + ", " +
                 std::to_string(c) + ")";
    switch (code) {
      case kAlloc:
        Allocate(a, b, c, result);
        break;
      case kFree:
        Deallocate(a);
        break;
      case kRecordStream:
        if (model_->Find(a) == nullptr) Fail("no block at " + Hex(a));
        if (model_->Find(a)->stream != b) events_->RecordUse(a, b, model_->DefersFrees());
        break;
      case kEmptyCache:
        Waiting([&] { model_->EmptyCache(); });
        break;
      case kSetFraction:
        model_->SetMemoryFraction(static_cast<double>(a) / 1000);
        break;
      case kLaunch:
        clock_->Launch(a);
        break;
      case kSynchronize:
        clock_->SynchronizeAll();
        break;
      case kMakePool:  // a new one each time: what is left of its predecessor lives on under its own id
        pools_[a] = model_->AddPool();
        model_->RetainPool(pools_[a], {false, b != 0, c != 0});
        break;
      case kDropPool:
        model_->ReleasePool(pools_[a]);
        events_->InsertDeferred(*model_);
        Waiting([&] { model_->EmptyCache(pools_[a]); });
        break;
      case kBeginPool:
        model_->BeginPool(pools_[a], PoolUse::kMemPool);
        break;
      case kEndPool:
        model_->EndPool(pools_[a]);
        model_->ReleasePool(pools_[a]);
        break;
      case kBeginCapture:
        pools_[a] = model_->AddPool();
        model_->BeginPool(pools_[a], PoolUse::kGraphCapture);
        break;
      case kEndCapture:
        model_->EndPool(pools_[a]);
        if (settings_.graph_capture_record_stream_reuse) events_->LeavePool(*model_, pools_[a]);
        break;
      case kDropGraph:
        model_->ReleasePool(pools_[a]);
        break;
      case kBallast:
        if (driver_->AllocateSegment(a) != result) Fail("the device gave another address: " + Hex(result));
        break;
      case kDropBallast:
        driver_->FreeSegment(a, ballast_[a]);
        break;
      default:
        Die("unknown operation " + std::to_string(code));
    }
    if (code == kBallast) ballast_[result] = a;
    CompareStatistics();
  }

  // Runs an operation that may make PyTorch wait for streams. If it waited, no event is outstanding.
  template <typename Do>
  void Waiting(Do what) {
    const uint64_t before = model_->statistics().num_sync_all_streams;
    what();
    if (model_->statistics().num_sync_all_streams != before) events_->Wait(*model_);
  }

  void Allocate(uint64_t bytes, uint64_t stream, uint64_t pool, uint64_t expected) {
    if (!model_->DefersFrees()) events_->Process(*model_);
    std::optional<uint64_t> address;
    Waiting([&] { address = model_->Malloc(bytes, static_cast<StreamIndex>(stream), pools_[pool]); });
    ++allocations_;
    ooms_ += expected == 0 ? 1 : 0;
    if (address.value_or(0) != expected)
      Fail("address " + Hex(address.value_or(0)) + ", PyTorch " + Hex(expected));
  }

  void Deallocate(uint64_t address) {
    const bool unused = events_->IsUnused(address);
    if (!(unused ? model_->Free(address) : model_->FreeLater(address))) Fail("no block at " + Hex(address));
    if (!unused) events_->Free(address, model_->DefersFrees());
  }

  void CompareStatistics() {
    const Statistics& s = model_->statistics();
    size_t index = 0;
    for (Counter PoolStatistics::*counter :
         {&PoolStatistics::allocated_bytes, &PoolStatistics::active_bytes, &PoolStatistics::requested_bytes,
          &PoolStatistics::reserved_bytes, &PoolStatistics::inactive_split_bytes, &PoolStatistics::allocation,
          &PoolStatistics::active, &PoolStatistics::inactive_split, &PoolStatistics::segment}) {
      for (const PoolStatistics* group : {&s.all, &s.small_pool, &s.large_pool}) {
        Compare(index++, (group->*counter).current);
        // After a wait, blocks become free in the order of PyTorch's hash tables. The peak of the split
        // blocks depends on that order.
        const bool by_order =
            counter == &PoolStatistics::inactive_split_bytes || counter == &PoolStatistics::inactive_split;
        Compare(index++, (group->*counter).peak, by_order);
      }
    }
    for (const uint64_t value :
         {s.num_alloc_retries, s.num_ooms, s.num_oom_rejections, s.num_sync_all_streams, s.num_device_alloc,
          s.num_device_free, s.oversize_allocations.current, s.oversize_segments.current}) {
      Compare(index++, value);
    }
    static_assert(kStatistics == 62);
  }

  void Compare(size_t index, uint64_t value, bool any = false) {
    const uint64_t expected = log_.Take();
    if (value == expected || any) return;
    std::string name;
    if (index < 54) {
      name = std::string(kCounters[index / 6]) + "." + kGroups[index / 2 % 3] +
             (index % 2 == 0 ? ".current" : ".peak");
    } else {
      name = kScalars[index - 54];
    }
    Fail(name + " " + std::to_string(value) + ", PyTorch " + std::to_string(expected));
  }

  // Within one wait or one release, PyTorch's order is that of its hash tables. So runs of events of the
  // same kind are compared as sets.
  void CompareEvents() {
    std::vector<Event> expected(log_.Take());
    for (Event& event : expected) {
      event.action = static_cast<Action>(log_.Take());
      event.address = log_.Take();
      event.bytes = log_.Take();
    }
    const auto comparable = [](std::vector<Event>* events) {
      for (Event& event : *events) event.stream = 0, event.pool = 0;
      for (auto run = events->begin(); run != events->end();) {
        auto end = run;
        while (end != events->end() && end->action == run->action) ++end;
        const bool any_order = run->action == Action::kFreeCompleted || run->action == Action::kSegmentFree ||
                               run->action == Action::kSegmentUnmap;
        if (any_order)
          std::sort(run, end, [](const Event& x, const Event& y) { return x.address < y.address; });
        run = end;
      }
    };
    comparable(&told_);
    comparable(&expected);
    for (size_t i = 0; i < std::max(told_.size(), expected.size()); ++i) {
      const std::string ours = i < told_.size() ? Text(told_[i]) : "nothing";
      const std::string theirs = i < expected.size() ? Text(expected[i]) : "nothing";
      if (ours == theirs) continue;
      for (size_t j = i > 5 ? i - 5 : 0; j < i + 15; ++j)
        std::fprintf(stderr, "%60s   %60s\n", j < told_.size() ? Text(told_[j]).c_str() : "",
                     j < expected.size() ? Text(expected[j]).c_str() : "");
      Fail("event " + ours + ", PyTorch " + theirs);
    }
    events_seen_ += expected.size();
    told_.clear();
  }

  static std::string Hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
    return text;
  }
  static std::string Text(const Event& event) {
    return std::string(kActions[static_cast<size_t>(event.action)]) + " " + Hex(event.address) + " " +
           std::to_string(event.bytes);
  }

  [[noreturn]] void Fail(const std::string& what) {
    std::string text = "operation " + std::to_string(operations_) + " " + operation_ + " under " +
                       phases_.back() + ": " + what;
    text += "\nlast events of the model:\n";
    for (size_t i = told_.size() > 12 ? told_.size() - 12 : 0; i < told_.size(); ++i)
      text += "  " + Text(told_[i]) + "\n";
    Die(text);
  }

  Log log_;
  const Release* release_;
  uint64_t device_bytes_ = 0;
  std::vector<uint64_t> handles_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<StreamEvents> events_;
  std::unique_ptr<SimulatedDriver> driver_;
  Settings settings_;
  std::unique_ptr<DeviceAllocator> model_;
  std::vector<Event> told_;
  std::map<uint64_t, PoolIndex> pools_{{0, kDefaultPool}};
  std::map<uint64_t, uint64_t> ballast_;
  std::vector<std::string> phases_;
  std::string operation_;
  uint64_t operations_ = 0, allocations_ = 0, ooms_ = 0, events_seen_ = 0;
};

}  // namespace
}  // namespace vramscope::allocator

int main(int count, char** words) {
  using namespace vramscope::allocator;
  if (count != 2 && count != 3) return 2;
  Comparison comparison(words[1]);
  comparison.Run();
  if (count == 2) return 0;
  size_t lines = 0;
  if (const std::string difference = CompareSettings(words[2], comparison.release(), &lines);
      !difference.empty())
    Die(difference);
  std::printf("%zu settings strings: no difference\n", lines);
  return 0;
}
