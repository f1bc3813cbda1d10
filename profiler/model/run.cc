// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/run.h"

#include <array>

#include "profiler/model/loader.h"

namespace vramscope::model {

BlockId Run::FirstBlockFrom(EventIndex event) const {
  BlockId low = 0;
  auto high = static_cast<BlockId>(blocks.size());
  while (low < high) {
    const BlockId middle = low + (high - low) / 2;
    if (blocks[middle].alloc_event < event) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

DeviceIndex Run::DeviceOf(const Block& block) const {
  for (const DeviceIndex device : processes[ProcessOf(block)].devices) {
    if (devices[device].code == block.device_code) return device;
  }
  return kNone;  // cannot happen: the loader creates a device for every block
}

BlockFacts& Run::MakeFacts(BlockId id) {
  Block& block = blocks[id];
  if (block.facts == kNone) {
    block.facts = static_cast<uint32_t>(facts.size());
    facts.push_back({.block = id});
  }
  return facts[block.facts];
}

uint64_t Run::lost_events() const {
  uint64_t sum = 0;
  for (const Loss& loss : losses) sum += loss.count;
  return sum;
}

bool Run::counts_events() const {
  const auto found = source->metadata().find(kTimesKey);
  return found != source->metadata().end() && found->second == kEventNumbers;
}

std::string DeviceName(uint64_t device_code) {
  // c10::DeviceType (c10/core/DeviceType.h); the numbers are part of PyTorch's serialized format and do not
  // change.
  static constexpr std::array<const char*, 21> kNames = {
      "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
      "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
      "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};
  constexpr uint8_t kDefaultIndex = 0xff;
  const uint8_t type = trace::DeviceTypeOf(device_code);
  const uint8_t index = trace::DeviceIndexOf(device_code);
  std::string name = type < kNames.size() ? kNames[type] : "device " + std::to_string(type);
  const bool numbered = type != 0 && index != kDefaultIndex;
  return numbered ? name + ":" + std::to_string(index) : name;
}

Result<Run> Load(std::shared_ptr<const Source> source) {
  return Load(std::move(source), [](uint64_t, uint64_t) { return true; });
}

Result<Run> Load(std::shared_ptr<const Source> source, const Progress& progress) {
  Loader loader(source);
  const uint64_t total = source->event_count();
  uint64_t done = 0;
  const Status read = source->ForEachBatch([&](std::span<const trace::Event> events) {
    loader.Add(events);
    done += events.size();
    return progress(done, total);
  });
  if (!read.ok() && done == 0) return read.error();
  return std::move(loader).Finish();
}

Result<Run> LoadFile(const std::string& path) {
  auto reader = VRAMSCOPE_TRY(trace::TraceReader::Open(path));
  return Load(MakeSource(std::move(reader)));
}

}  // namespace vramscope::model
