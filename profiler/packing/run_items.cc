// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/run_items.h"

namespace vramscope::packing {
namespace {

constexpr uint64_t kAlignment = 512;  // kMinBlockSize of PyTorch's allocator

uint64_t NeededBytes(const model::Block& block) {
  return (block.Requested() + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

NamedItems ItemsOf(const model::Run& run, model::DeviceIndex device) {
  NamedItems named;
  for (const model::Change& change : run.devices[device].changes) {
    if (change.freed()) continue;
    const model::Block& block = run.blocks[change.block()];
    const model::EventIndex end = block.free_event == model::kNever ? run.event_count() : block.free_event;
    if (end <= block.alloc_event) continue;
    named.items.push_back({block.alloc_event, end, NeededBytes(block)});
    named.names.push_back(std::to_string(uint64_t{change.block()} + 1));
  }
  return named;
}

}  // namespace vramscope::packing
