// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/owner_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/html/fit.h"
#include "profiler/report/owner_tree.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLeastShare = 2000;  // owners below 1/2000 of the whole are merged into "others"
constexpr size_t kMostChildren = 48;
constexpr size_t kLongestOwner = 160;
constexpr size_t kMostTreeBytes = 250'000;

Json TreeJson(const report::OwnerNode& node) {
  Json list = Json::array();
  for (const report::OwnerNode& child : node.children) list.push_back(TreeJson(child));
  return Json::array(
      {CutText(node.name, kLongestOwner), node.bytes, static_cast<size_t>(node.Mostly()), std::move(list)});
}

}  // namespace

Json OwnerTrees(const classify::Analysis& analysis, classify::Origins& origins,
                std::span<const model::BlockId> blocks, model::EventIndex at) {
  const auto tree_or_null = [&](report::OwnersBy by) -> Json {
    const report::OwnerNode tree = report::MakeOwnerTree(analysis, origins, blocks, at, by);
    if (!report::IsKnown(tree)) return nullptr;
    uint64_t least = std::max<uint64_t>(1, tree.bytes / kLeastShare);
    Json json = TreeJson(report::Abridged(tree, least, kMostChildren));
    while (SizeOf(json) > kMostTreeBytes) json = TreeJson(report::Abridged(tree, least *= 2, kMostChildren));
    return json;
  };
  return {{"modules", tree_or_null(report::OwnersBy::kModule)},
          {"stacks", tree_or_null(report::OwnersBy::kStack)}};
}

}  // namespace vramscope::html
