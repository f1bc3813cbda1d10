// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/owner_tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/html/fit.h"
#include "profiler/report/owners.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLeastShare = 2000;  // an owner of less than this part of the whole is one of "others"
constexpr size_t kMostChildren = 48;
constexpr size_t kDeepest = 48;
constexpr size_t kLongestName = 160;
constexpr size_t kMostTreeBytes = 250'000;

struct Node {
  uint64_t bytes = 0;
  classify::CategoryBytes categories = {};
  std::map<std::string_view, std::unique_ptr<Node>> children;

  void Add(uint64_t more, classify::Category category) {
    bytes += more;
    categories[static_cast<size_t>(category)] += more;
  }
};

void AddPath(Node& root, std::span<const std::string_view> path, uint64_t bytes,
             classify::Category category) {
  root.Add(bytes, category);
  Node* node = &root;
  for (const std::string_view part : path.first(std::min(path.size(), kDeepest))) {
    std::unique_ptr<Node>& child = node->children[part];
    if (child == nullptr) child = std::make_unique<Node>();
    node = child.get();
    node->Add(bytes, category);
  }
}

// "layers.3.mlp" as its three parts.
void AddParts(std::string_view module, std::vector<std::string_view>& path) {
  for (size_t begin = 0; begin < module.size();) {
    const size_t end = std::min(module.find('.', begin), module.size());
    path.push_back(module.substr(begin, end - begin));
    begin = end + 1;
  }
}

Json TreeJson(std::string_view name, const Node& node, uint64_t least) {
  const size_t mostly = static_cast<size_t>(std::max_element(node.categories.begin(), node.categories.end()) -
                                            node.categories.begin());
  std::vector<std::pair<std::string_view, const Node*>> children;
  for (const auto& [part, child] : node.children) children.emplace_back(part, child.get());
  std::stable_sort(children.begin(), children.end(),
                   [](const auto& a, const auto& b) { return a.second->bytes > b.second->bytes; });
  Json list = Json::array();
  Node others;
  size_t other_count = 0;
  for (const auto& [part, child] : children) {
    if (child->bytes >= least && list.size() < kMostChildren) {
      list.push_back(TreeJson(part, *child, least));
    } else {
      ++other_count;
      others.bytes += child->bytes;
      for (size_t c = 0; c < others.categories.size(); ++c) others.categories[c] += child->categories[c];
    }
  }
  if (other_count != 0) list.push_back(TreeJson(std::to_string(other_count) + " smaller", others, least));
  return Json::array({CutText(name, kLongestName), node.bytes, mostly, std::move(list)});
}

size_t SizeOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace).size(); }

}  // namespace

Json OwnerTrees(const classify::Analysis& analysis, classify::Origins& origins,
                std::span<const model::BlockId> blocks, model::EventIndex at) {
  const model::Run& run = analysis.run();
  Node modules, stacks;
  for (const model::BlockId block : blocks) {
    const uint64_t bytes = run.blocks[block].size;
    const classify::Category category = analysis.categories().At(block, at).category;
    const report::Place place = report::PlaceOf(analysis, origins, block);
    std::vector<std::string_view> path;
    AddParts(place.module, path);
    if (!place.node.empty()) path.push_back(place.node);
    if (!place.op.empty() && place.op != place.node) path.push_back(place.op);
    if (path.empty()) path.push_back("not known");
    AddPath(modules, path, bytes, category);
    std::vector<std::string_view> frames;
    for (const trace::StringId frame : run.source->Stack(origins.Of(block).stack))
      frames.push_back(run.Text(frame));
    if (frames.empty()) frames.push_back("not known");
    AddPath(stacks, frames, bytes, category);
  }
  const auto tree_or_null = [&](const Node& root) -> Json {
    const bool nothing_known = root.children.size() == 1 && root.children.begin()->first == "not known";
    if (root.bytes == 0 || nothing_known) return nullptr;
    uint64_t least = std::max<uint64_t>(1, root.bytes / kLeastShare);
    Json tree = TreeJson("all", root, least);
    while (SizeOf(tree) > kMostTreeBytes) tree = TreeJson("all", root, least *= 2);
    return tree;
  };
  return {{"modules", tree_or_null(modules)}, {"stacks", tree_or_null(stacks)}};
}

}  // namespace vramscope::html
