// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/read_ahead.h"

#include <array>
#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

namespace vramscope::model {

using trace::Event;

// A ring of batches. The reading thread fills them in order, and the caller works on them in the same order.
class ReadAhead::Queue {
 public:
  // Waits for a free batch and returns it, empty. nullptr: no more are wanted.
  std::vector<Event>* Free() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return closed_ || filled_ - done_ < kBatches; });
    if (closed_) return nullptr;
    std::vector<Event>& batch = batches_[filled_ % kBatches];
    batch.clear();
    return &batch;
  }
  void Fill() {
    const std::lock_guard lock(mutex_);
    ++filled_;
    ready_.notify_one();
  }
  // No more batches will be filled.
  void End() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ready_.notify_one();
  }

  // Returns the next batch to work on; nullptr at the end.
  const std::vector<Event>* Filled() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return ended_ || filled_ != done_; });
    return filled_ == done_ ? nullptr : &batches_[done_ % kBatches];
  }
  void Done() {
    const std::lock_guard lock(mutex_);
    ++done_;
    freed_.notify_one();
  }
  // No more batches will be worked on.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::condition_variable ready_;
  std::array<std::vector<Event>, kBatches> batches_;
  size_t filled_ = 0;
  size_t done_ = 0;
  bool ended_ = false;
  bool closed_ = false;
};

Status ReadAhead::ForEachBatch(const Visit& visit) const {
  Queue queue;
  const auto read = [&] {
    struct AtEnd {
      Queue& queue;
      ~AtEnd() { queue.End(); }  // even if reading throws
    } const at_end{queue};
    std::vector<Event>* batch = nullptr;
    const Status status = source().ForEachBatch([&](std::span<const Event> events) {
      if (batch == nullptr && (batch = queue.Free()) == nullptr) return false;
      batch->insert(batch->end(), events.begin(), events.end());
      if (batch->size() < kEvents) return true;
      queue.Fill();
      batch = nullptr;
      return true;
    });
    if (batch != nullptr) queue.Fill();
    return status;
  };
  std::future<Status> reading = std::async(std::launch::async, read);
  struct AtEnd {
    Queue& queue;
    ~AtEnd() { queue.Close(); }  // runs before `reading` waits for its thread
  } const at_end{queue};
  while (const std::vector<Event>* batch = queue.Filled()) {
    if (!visit(*batch)) break;
    queue.Done();
  }
  queue.Close();
  return reading.get();
}

}  // namespace vramscope::model
