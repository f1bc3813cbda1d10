// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/run_items.h"

#include "profiler/model/framework.h"

namespace vramscope::packing {
namespace {

// kMinBlockSize of PyTorch's allocator, kMinAllocationSize of TensorFlow's.
uint64_t AlignmentOf(const model::Framework& framework) {
  return framework.allocator == model::AllocatorModel::kBfc ? 256 : 512;
}

}  // namespace

NamedItems ItemsOf(const model::Run& run, model::DeviceIndex device) {
  NamedItems named;
  const uint64_t alignment = AlignmentOf(model::FrameworkOf(*run.source));
  for (const model::Change& change : run.devices[device].changes) {
    if (change.freed()) continue;
    const model::Block& block = run.blocks[change.block()];
    const model::EventIndex end = block.free_event == model::kNever ? run.event_count() : block.free_event;
    if (end <= block.alloc_event) continue;
    named.items.push_back(
        {block.alloc_event, end, (block.Requested() + alignment - 1) / alignment * alignment});
    named.names.push_back(std::to_string(uint64_t{change.block()} + 1));
  }
  return named;
}

}  // namespace vramscope::packing
