// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/load_job.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "profiler/model/forwarding_source.h"
#include "profiler/model/read_ahead.h"
#include "profiler/snapshot/run_file.h"
#include "profiler/text/failure.h"
#include "trace_format/reader.h"

namespace vramscope::viewer {

// Forwards to the given source and observes the allocator's totals.
class LoadJob::Watched final : public model::ForwardingSource {
 public:
  Watched(LoadJob& job, std::shared_ptr<const model::Source> source)
      : ForwardingSource(std::move(source)), job_(job) {}

  Status ForEachBatch(const Visit& visit) const override {
    PreviewPoint point;
    uint64_t device = 0;  // the CPU, which reports no totals
    return source().ForEachBatch([&](std::span<const trace::Event> events) {
      for (const trace::Event& event : events) Look(event, device, point);
      return visit(events);
    });
  }

 private:
  static constexpr double kPoints = 2000;

  void Look(const trace::Event& event, uint64_t& device, PreviewPoint& point) const {
    uint64_t total = 0;
    uint64_t on = 0;
    if (event.type == trace::EventType::kAlloc) {
      total = event.field[trace::alloc::kTotalAllocated];
      on = event.field[trace::alloc::kDevice];
    } else if (event.type == trace::EventType::kFree) {
      total = event.field[trace::free_::kTotalAllocated];
      on = event.field[trace::free_::kDevice];
    }
    if (trace::DeviceTypeOf(on) == 0 || (device != 0 && on != device)) return;
    device = on;
    point.bytes = std::max(point.bytes, total);
    const auto time = static_cast<double>(event.time_ns);
    if (time < point.time_ns + job_.duration_ns_ / kPoints) return;
    point.time_ns = time;
    const std::lock_guard lock(job_.mutex_);
    job_.preview_.push_back(point);
    point.bytes = 0;
  }

  LoadJob& job_;  // only while the run is read
};

LoadJob::LoadJob(std::string path, std::function<void()> wake)
    : path_(std::move(path)), wake_(std::move(wake)) {
  thread_ = std::thread([this] {
    const auto begin = std::chrono::steady_clock::now();
    // Catches above all a lack of memory.
    if (const std::string failure = text::FailureOf([this] { Work(); }, path_); !failure.empty())
      Fail(failure);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    finished_ = true;
    wake_();
  });
}

LoadJob::~LoadJob() {
  cancelled_ = true;
  thread_.join();
}

void LoadJob::Enter(const char* stage) {
  stage_ = stage;
  wake_();
}

void LoadJob::Fail(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  error_ = sentence;
}

Result<model::Run> LoadJob::Read(std::shared_ptr<const snapshot::Snapshot>& snapshot) {
  std::shared_ptr<const model::Source> source;
  const snapshot::RunFile file(path_);
  if (file.is_snapshot()) {
    snapshot = VRAMSCOPE_TRY(file.ReadSnapshot());
    source = VRAMSCOPE_TRY(file.OpenSource());
  } else {
    auto reader = VRAMSCOPE_TRY(file.OpenTrace());
    file_bytes_ = reader->file_bytes();
    closed_ = reader->damage().closed_cleanly;
    duration_ns_ = static_cast<double>(reader->last_time_ns());
    source = model::MakeSource(std::move(reader));
  }
  double told = 0;
  const auto watched = std::make_shared<Watched>(*this, source);
  return model::Load(std::make_shared<model::ReadAhead>(watched), [&](uint64_t done, uint64_t total) {
    share_ = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    if (share_ - told > 0.01) {
      told = share_;
      wake_();
    }
    return !cancelled_;
  });
}

void LoadJob::Work() {
  std::shared_ptr<const snapshot::Snapshot> snapshot;
  Result<model::Run> run = Read(snapshot);
  if (!run.ok()) return Fail(run.error().sentence);
  if (cancelled_) return;
  Enter("analyzing");
  std::unique_ptr<Document> made = HoldRun(path_, std::move(run).value(), snapshot);
  const Document& document = *made;
  const std::shared_future<void> analyzed = std::async(std::launch::async, [&] {
    Analyze(*made);
    {
      const std::lock_guard lock(mutex_);
      document_ = std::move(made);
    }
    Enter("placing addresses");
  });
  if (std::thread::hardware_concurrency() == 1) analyzed.wait();  // first what the first picture needs
  PlaceAddresses(document, analyzed);
  analyzed.get();
}

void LoadJob::PlaceAddresses(const Document& document, const std::shared_future<void>& analyzed) {
  const auto& devices = document.run->devices;
  for (const bool host : {false, true}) {  // GPUs first
    for (model::DeviceIndex device = 0; device < devices.size() && !cancelled_; ++device) {
      if (devices[device].changes.empty() || (trace::DeviceTypeOf(devices[device].code) == 0) != host)
        continue;
      std::unique_ptr<LayoutView> layout = PlaceBlocks(document, device);
      analyzed.get();
      Explain(document, *layout);
      {
        const std::lock_guard lock(mutex_);
        layouts_.emplace_back(device, std::move(layout));
      }
      wake_();
    }
  }
}

std::vector<PreviewPoint> LoadJob::preview() const {
  const std::lock_guard lock(mutex_);
  return preview_;
}

std::string LoadJob::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::unique_ptr<Document> LoadJob::TakeDocument() {
  const std::lock_guard lock(mutex_);
  return std::move(document_);
}

std::unique_ptr<LayoutView> LoadJob::TakeLayout(model::DeviceIndex& device) {
  const std::lock_guard lock(mutex_);
  if (layouts_.empty()) return nullptr;
  device = layouts_.front().first;
  auto layout = std::move(layouts_.front().second);
  layouts_.erase(layouts_.begin());
  return layout;
}

}  // namespace vramscope::viewer
