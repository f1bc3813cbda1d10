// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/settings_in_force.h"

#include <charconv>
#include <utility>

#include "profiler/allocator/settings.h"

namespace vramscope::snapshot {
namespace {

const char* Bool(bool value) { return value ? "True" : "False"; }
std::string Bytes(uint64_t bytes) { return bytes == allocator::kUnlimited ? "-1" : std::to_string(bytes); }

// The value of `key` in `text`, `otherwise` if it is missing. For keys that do not affect device memory.
std::string ValueIn(std::string_view text, std::string_view key, std::string_view otherwise) {
  const size_t at = text.find(std::string(key) + ":");
  if (at == std::string_view::npos) return std::string(otherwise);
  const std::string_view value = text.substr(at + key.size() + 1);
  return std::string(value.substr(0, value.find(',')));
}

std::string PinnedBytes(std::string_view text, std::string_view key) {
  uint64_t mib = 0;
  const std::string value = ValueIn(text, key, "");
  const bool is_number = std::from_chars(value.data(), value.data() + value.size(), mib).ec == std::errc();
  return is_number ? std::to_string(mib * allocator::kMiB) : "-1";
}

// Since 2.12 a snapshot contains the limits of pinned memory.
bool HasPinnedLimits(std::string_view version) {
  int major = 0, minor = 0;
  const auto [dot, error] = std::from_chars(version.data(), version.data() + version.size(), major);
  if (error != std::errc() || dot == version.data() + version.size()) return false;
  std::from_chars(dot + 1, version.data() + version.size(), minor);
  return std::pair(major, minor) >= std::pair(2, 12);
}

}  // namespace

std::vector<Setting> SettingsInForce(const std::string& text, std::string_view torch_version) {
  std::vector<Setting> all = {{"PYTORCH_CUDA_ALLOC_CONF", text, true}};
  const auto settings = allocator::ParseSettings(text, allocator::ReleaseOf(torch_version));
  if (!settings.ok()) return all;
  all.push_back({"max_split_size", Bytes(settings->max_split_bytes)});
  all.push_back({"garbage_collection_threshold", std::to_string(settings->garbage_collection_threshold)});
  all.push_back({"expandable_segments", Bool(settings->expandable_segments)});
  all.push_back({"release_lock_on_cudamalloc", Bool(settings->release_lock_on_cudamalloc)});
  all.push_back({"graph_capture_record_stream_reuse", Bool(settings->graph_capture_record_stream_reuse)});
  all.push_back({"pinned_num_register_threads", ValueIn(text, "pinned_num_register_threads", "1")});
  all.push_back({"pinned_use_cuda_host_register", ValueIn(text, "pinned_use_cuda_host_register", "False")});
  if (HasPinnedLimits(torch_version)) {
    all.push_back({"max_round_threshold", PinnedBytes(text, "pinned_max_round_threshold_mb")});
    all.push_back({"max_cached_size", PinnedBytes(text, "pinned_max_cached_size_mb")});
  }
  for (size_t i = 0; i < settings->roundup_power2_divisions.size(); ++i) {
    all.push_back({"roundup_power2_divisions." + std::to_string(uint64_t{1} << i),
                   std::to_string(settings->roundup_power2_divisions[i])});
  }
  return all;
}

}  // namespace vramscope::snapshot
