// SPDX-License-Identifier: Apache-2.0
// Maps the string and stack ids of one recorded process to the ids of the trace.
//
// A forked child inherits the string ids that its parent had defined up to the fork (first_own_string).
// Stacks are not inherited.
//
//   parent   1 2 3 4 5 │ 6 7 8      child (forked at │)   ids 1 to 5 are the parent's; its own start at 6
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/collector/output/trace_output.h"
#include "trace_format/event.h"

namespace vramscope::collector {

// A text with this prefix is not a string of the trace, but metadata of the trace:
// "meta:torch.version=2.15.0".
inline constexpr std::string_view kMetadataPrefix = "meta:";

class IdMap {
 public:
  // `parent` is the map of the process that forked this process, or null. `output` must outlive the map.
  IdMap(TraceOutput& output, std::shared_ptr<const IdMap> parent, uint32_t first_own_string);

  void DefineString(uint32_t id, std::string_view text);
  // `frames` are string ids of this process, outermost first.
  void DefineStack(uint32_t id, std::span<const uint64_t> frames);

  // Returns the id in the trace. Returns 0 for id 0, and for an id whose definition was lost. Lost ids are
  // counted in unknown_ids().
  trace::StringId String(uint64_t id);
  trace::StackId Stack(uint64_t id);

  // Replaces the ids in `event` by the trace's ids.
  void Map(trace::Event* event);

  // Returns the "key=value" of a metadata text (kMetadataPrefix); empty for other ids.
  [[nodiscard]] std::string_view Metadata(uint64_t id) const;

  [[nodiscard]] uint64_t unknown_ids() const { return unknown_ids_; }

 private:
  // Ids are mostly small consecutive numbers, which index a vector. Far larger ids are stored in a hash
  // table.
  class Table {
   public:
    void Set(uint64_t id, uint32_t value);
    [[nodiscard]] uint32_t Get(uint64_t id) const;  // 0 = not defined

   private:
    std::vector<uint32_t> dense_;
    std::unordered_map<uint64_t, uint32_t> sparse_;
    uint64_t defined_ = 0;
  };
  // The limit for the number of parents that a look-up visits.
  static constexpr int kMaxGenerations = 4096;

  TraceOutput& output_;
  std::shared_ptr<const IdMap> parent_;
  uint32_t first_own_string_;
  Table strings_;
  Table stacks_;
  std::unordered_map<uint64_t, std::string> metadata_;
  uint64_t unknown_ids_ = 0;
};

}  // namespace vramscope::collector
