// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/model_words.h"

namespace vramscope::fragmentation {
namespace {

// Split limits go from large to small: a smaller limit keeps more segments free of small requests, but costs
// more driver calls.
constexpr const char* kOfPyTorch[] = {
    "expandable_segments:True", "max_split_size_mb:512", "max_split_size_mb:256",     "max_split_size_mb:128",
    "max_split_size_mb:64",     "max_split_size_mb:32",  "roundup_power2_divisions:8"};
constexpr const char* kFewOfPyTorch[] = {"expandable_segments:True", "max_split_size_mb:256",
                                         "max_split_size_mb:64", "roundup_power2_divisions:8"};
constexpr const char* kOfBfc[] = {"allow_growth:False", "garbage_collection:True"};

constexpr ModelWords kPyTorch = {
    .framework = "PyTorch",
    .settings = kOfPyTorch,
    .few_settings = kFewOfPyTorch,
    .no_segment = "",
    .ask_again =
        "Repeat the request: a free block became large enough while PyTorch released its cache, but "
        "PyTorch did not check again. Newer releases do.",
    .give_back =
        "Call torch.cuda.empty_cache() before this request. PyTorch does so by itself, except while "
        "a graph is captured or inside torch.cuda.use_mem_pool.",
};
constexpr ModelWords kBfc = {
    .framework = "TensorFlow",
    .settings = kOfBfc,
    .few_settings = kOfBfc,
    .no_segment = "TensorFlow's allocator could add no region: it was at its limit, or the driver refused.",
    .ask_again = "Repeat the request: a free chunk was large enough.",
    .give_back =
        "Set TF_ENABLE_GPU_GARBAGE_COLLECTION=true: free regions are then given back for this "
        "request.",
};

}  // namespace

const ModelWords& WordsOf(allocator::Model model) {
  return model == allocator::Model::kBfc ? kBfc : kPyTorch;
}

std::string HowToSet(allocator::Model model, const std::string& settings) {
  if (model == allocator::Model::kPyTorch) return "Set PYTORCH_CUDA_ALLOC_CONF=" + settings;
  if (settings.ends_with("allow_growth:False")) return "Leave out set_memory_growth(gpu, True)";
  if (settings.ends_with("garbage_collection:True")) return "Set TF_ENABLE_GPU_GARBAGE_COLLECTION=true";
  return "Set " + settings;
}

}  // namespace vramscope::fragmentation
