// SPDX-License-Identifier: Apache-2.0
// Determines when a freed block that other streams have used becomes free. The differential test passes this
// to the allocator model.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "tests/differential/device_model.h"

namespace vramscope::allocator {

// The stream events that freed blocks wait for, in one queue per stream. PyTorch polls the events before each
// request that is made outside of private pools. If a block is freed while a private pool is used, PyTorch
// records its events later.
class StreamEvents {
 public:
  StreamEvents(Clock& clock, size_t streams) : clock_(clock), queues_(streams) {}

  void RecordUse(uint64_t address, size_t stream, bool inside) {
    uses_[address].insert(stream);
    if (inside) inside_uses_[address].insert(stream);
  }
  // True if the block becomes free immediately when it is freed, because no other stream has used it.
  [[nodiscard]] bool IsUnused(uint64_t address) const { return !uses_.contains(address); }
  void Free(uint64_t address, bool inside) {
    if (inside) {
      deferred_.push_back(address);
    } else {
      Insert(address);
    }
  }
  void Process(DeviceAllocator& model) {
    InsertDeferred(model);
    for (auto& queue : queues_) {
      while (!queue.empty() && clock_.Passed(queue.front().time)) {
        Drop(queue.front().address, model);
        queue.pop_front();
      }
    }
  }
  // Waits, as PyTorch does, for the events of each block that is no longer a pending free in the model.
  void Wait(DeviceAllocator& model) {
    InsertDeferred(model);
    for (auto& queue : queues_) {
      std::erase_if(queue, [&](const Waiting& waiting) {
        const Block* const block = model.Find(waiting.address);
        if (block != nullptr && block->status == BlockStatus::kPendingFree) return false;
        clock_.WaitFor(waiting.time);
        counts_.erase(waiting.address);
        return true;
      });
    }
  }

  // Ends the use of a private pool. With graph_capture_record_stream_reuse, this frees those deferred blocks
  // of the pool that no stream used before the capture. Call it when a capture ends, and when a request has
  // searched the pool without success.
  void LeavePool(DeviceAllocator& model, PoolIndex pool) {
    std::erase_if(deferred_, [&](uint64_t address) {
      if (model.Find(address)->pool != pool || uses_[address] != inside_uses_[address]) return false;
      uses_.erase(address);
      inside_uses_.erase(address);
      return model.CompleteFree(address);
    });
  }

  // Records the events of blocks whose free was deferred during a capture. A block that only streams of the
  // capture used becomes free.
  void InsertDeferred(DeviceAllocator& model) {
    for (const uint64_t address : deferred_) {
      for (const size_t stream : inside_uses_[address]) uses_[address].erase(stream);
      Insert(address);
      if (counts_[address] == 0) model.CompleteFree(address);
    }
    deferred_.clear();
  }

 private:
  struct Waiting {
    uint64_t time;
    uint64_t address;
  };

  void Insert(uint64_t address) {
    for (const size_t stream : uses_[address]) {
      queues_[stream].push_back({clock_.Record(stream), address});
      ++counts_[address];
    }
    uses_.erase(address);
    inside_uses_.erase(address);
  }
  void Drop(uint64_t address, DeviceAllocator& model) {
    if (--counts_[address] > 0) return;
    counts_.erase(address);
    (void)model.CompleteFree(address);  // if the model cannot, the statistics will differ
  }

  Clock& clock_;
  std::vector<std::deque<Waiting>> queues_;
  std::map<uint64_t, std::set<size_t>> uses_, inside_uses_;
  std::map<uint64_t, size_t> counts_;
  std::vector<uint64_t> deferred_;
};

}  // namespace vramscope::allocator
