// SPDX-License-Identifier: Apache-2.0
// Computes the row of a block for the CSV and SQLite exports and the Python tables.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "profiler/export/content.h"
#include "profiler/report/owners.h"

namespace vramscope::exporting {

struct BlockRow {
  uint64_t number = 0;  // 1-based allocation number in the trace
  model::DeviceIndex device = 0;
  uint32_t pid = 0;
  const model::Block* block = nullptr;
  std::optional<uint64_t> requested;
  uint64_t alloc_ns = 0;
  std::optional<uint64_t> free_ns;  // nullopt = the block is alive at the end
  uint32_t step = 0;                // 0 = outside all steps
  timeline::Phase phase{};
  classify::Category first{};                 // category after the allocation
  classify::Category last{};                  // category before the free, or at the end
  std::optional<classify::Category> at_peak;  // nullopt = not alive at the peak, or on another device
  std::string_view name;
  std::string_view module;
  std::string_view op;
  uint32_t stack = 0;
  std::string_view line;
};

class BlockRows {
 public:
  explicit BlockRows(const Content& content) : content_(content), lines_(content.run()) {
    const model::Run& run = content.run();
    for (model::DeviceIndex device = 0; device < run.devices.size(); ++device)
      devices_[Key(run.devices[device].process, run.devices[device].code)] = device;
  }

  // Call once for each block, in order of allocation.
  [[nodiscard]] BlockRow Of(model::BlockId id) {
    const model::Run& run = content_.run();
    if (id % kBetweenTellings == 0) content_.Tell("blocks", id, run.blocks.size());
    const model::Block& block = run.blocks[id];
    BlockRow row;
    row.number = uint64_t{id} + 1;
    row.block = &block;
    const model::ProcessIndex process = run.ProcessOf(block);
    row.device = devices_[Key(process, block.device_code)];
    row.pid = run.processes[process].info.pid;
    if (block.slack != model::Block::kUnknownSlack) row.requested = block.size - block.slack;
    row.alloc_ns = run.times.TimeOf(block.alloc_event);
    if (block.free_event != model::kNever) row.free_ns = run.times.TimeOf(block.free_event);
    const timeline::Span& span = content_.TrainingOf(process).SpanAt(block.alloc_event);
    row.step = span.step;
    row.phase = timeline::PhaseOf(span.part);
    const classify::Life life = content_.analysis().categories().Of(id);
    row.first = life[0].category;
    row.last = block.free_event == model::kNever ? life[life.size() - 1].category
                                                 : life.At(block.free_event - 1).category;
    if (row.device == content_.device() && block.AliveAfter(content_.peak_event()))
      row.at_peak = life.At(content_.peak_event()).category;
    row.name = content_.analysis().names().Of(id);
    const model::Birthplace& place = run.contexts.PlaceOf(block.context);
    row.module = run.Text(place.module);
    row.op = run.Text(place.op);
    row.stack = block.stack;
    row.line = lines_.Of(block.stack);
    return row;
  }

 private:
  static uint64_t Key(model::ProcessIndex process, uint16_t code) { return uint64_t{process} << 16 | code; }

  const Content& content_;
  report::FramesToShow lines_;
  std::unordered_map<uint64_t, model::DeviceIndex> devices_;
};

}  // namespace vramscope::exporting
