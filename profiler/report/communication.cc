// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/communication.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

namespace vramscope::report {
namespace {

using classify::Category;

struct Kind {
  std::string_view label;  // start of the name that the recorder assigns
  std::string_view what;   // follows the bytes
  std::string_view setting;
};

// Names: injector/torch/collective_hooks.cc, injector/python/vramscope_shim/gathered.py.
constexpr std::array<Kind, 4> kKinds = {{
    {"bucket of DistributedDataParallel", "in buckets of DistributedDataParallel",
     "bucket_cap_mb sets the size of each; with gradient_as_bucket_view=True gradients are views of the "
     "buckets and need no other memory"},
    {"gathered copy of ", "in gathered copies of parameters",
     "reshard_after_forward=True frees them after forward; applying fully_shard to smaller modules gathers "
     "fewer at a time"},
    {"all-gather", "in buffers of all-gather",
     "the size depends on the wrapped modules in FSDP, on allgather_bucket_size and "
     "stage3_prefetch_bucket_size in DeepSpeed"},
    {"", "in buffers of other collectives",
     "the size depends on the wrapped modules in FSDP, on reduce_bucket_size in DeepSpeed"},
}};

// A kind is mentioned if it has more than 1/50 of all communication memory. A barrier's 512 bytes are not
// worth a sentence: no setting changes them.
constexpr uint64_t kWorthASentence = 50;

}  // namespace

std::vector<std::string> CommunicationNotes(const classify::Analysis& analysis,
                                            std::span<const model::BlockId> live, model::EventIndex at) {
  std::array<std::pair<uint64_t, const Kind*>, kKinds.size()> sums{};
  for (const model::BlockId block : live) {
    if (analysis.categories().At(block, at).category != Category::kCommunication) continue;
    const std::string_view name = analysis.names().Of(block);
    const Kind* const kind = std::find_if(kKinds.data(), kKinds.data() + kKinds.size(),
                                          [&](const Kind& each) { return name.starts_with(each.label); });
    auto& [bytes, which] = sums[static_cast<size_t>(kind - kKinds.data())];
    bytes += analysis.run().blocks[block].size;
    which = kind;
  }
  std::ranges::sort(sums, std::greater<>(), [](const auto& sum) { return sum.first; });
  const uint64_t all = std::accumulate(sums.begin(), sums.end(), uint64_t{0},
                                       [](uint64_t sum, const auto& each) { return sum + each.first; });
  std::vector<std::string> notes;
  for (const auto& [bytes, kind] : sums) {
    if (bytes * kWorthASentence <= all) break;
    notes.push_back("Communication at the peak: " + std::to_string(bytes) + " bytes " +
                    std::string(kind->what) + "; " + std::string(kind->setting) + ".");
  }
  return notes;
}

}  // namespace vramscope::report
