// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace vramscope::snapshot {
namespace {

constexpr std::string_view kTexts[] = {
    "",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "action",
    "addr",
    "device_free",
    "size",
    "stream",
    "time_us",
    "frames",
    "compile_context",
    "user_metadata",
    "pool_id",
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "requested_size",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "state",
    "history",
    "real_size",
    "filename",
    "line",
    "name",
    "stage",
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
    "annotate",
    "active_allocated",
    "active_pending_free",
    "active_awaiting_free",
    "inactive",
    "small",
    "large",
    "START",
    "END",
};
static_assert(std::size(kTexts) == static_cast<size_t>(Word::kCount));

}  // namespace

Word WordOf(std::string_view text) {
  if (text.empty()) return Word::kOther;
  const auto found = std::find(std::begin(kTexts) + 1, std::end(kTexts), text);
  return found == std::end(kTexts) ? Word::kOther : static_cast<Word>(found - std::begin(kTexts));
}

}  // namespace vramscope::snapshot
