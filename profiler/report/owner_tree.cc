// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/owner_tree.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profiler/classify/category_words.h"
#include "profiler/report/owners.h"

namespace vramscope::report {
namespace {

constexpr size_t kDeepest = 48;
constexpr std::string_view kNotKnown = "not known";

// A node while blocks are added to it.
struct Growing {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  classify::CategoryBytes categories = {};
  std::map<std::string_view, std::unique_ptr<Growing>> children;

  void Add(uint64_t more, classify::Category category) {
    bytes += more;
    ++blocks;
    categories[static_cast<size_t>(category)] += more;
  }
};

void AddPath(Growing& root, std::span<const std::string_view> path, uint64_t bytes,
             classify::Category category) {
  root.Add(bytes, category);
  Growing* node = &root;
  for (const std::string_view part : path.first(std::min(path.size(), kDeepest))) {
    std::unique_ptr<Growing>& child = node->children[part];
    if (child == nullptr) child = std::make_unique<Growing>();
    node = child.get();
    node->Add(bytes, category);
  }
}

// Adds "layers.3.mlp" as its three parts.
void AddParts(std::string_view module, std::vector<std::string_view>& path) {
  for (size_t begin = 0; begin < module.size() && path.size() < kDeepest;) {
    const size_t end = std::min(module.find('.', begin), module.size());
    path.push_back(module.substr(begin, end - begin));
    begin = end + 1;
  }
}

void AddModule(const Place& place, std::vector<std::string_view>& path) {
  AddParts(place.module, path);
  if (!place.node.empty()) path.push_back(place.node);
  if (!place.op.empty() && place.op != place.node) path.push_back(place.op);
}

void SortBySize(std::vector<OwnerNode>& nodes) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const OwnerNode& a, const OwnerNode& b) { return a.bytes > b.bytes; });
}

OwnerNode Grown(std::string_view name, const Growing& growing) {
  OwnerNode node{std::string(name), growing.bytes, growing.blocks, growing.categories, {}};
  node.children.reserve(growing.children.size());
  for (const auto& [part, child] : growing.children) node.children.push_back(Grown(part, *child));
  SortBySize(node.children);
  return node;
}

}  // namespace

classify::Category OwnerNode::Mostly() const {
  return static_cast<classify::Category>(std::max_element(categories.begin(), categories.end()) -
                                         categories.begin());
}

OwnerNode MakeOwnerTree(const classify::Analysis& analysis, classify::Origins& origins,
                        std::span<const model::BlockId> blocks, model::EventIndex at, OwnersBy by) {
  const model::Run& run = analysis.run();
  const model::Framework& framework = model::FrameworkOf(*run.source);
  Growing root;
  std::vector<std::string_view> path;
  std::unordered_map<uint32_t, std::vector<std::string_view>> drawn_of_stack;
  for (const model::BlockId block : blocks) {
    const classify::Category category = analysis.categories().At(block, at).category;
    path.clear();
    if (by == OwnersBy::kStack) {
      const auto [drawn, fresh] = drawn_of_stack.try_emplace(origins.Of(block).stack);
      if (fresh) drawn->second = FramesToDraw(run, drawn->first);
      path = drawn->second;
    } else {
      const Place place = PlaceOf(analysis, origins, block);
      if (by == OwnersBy::kModule) {
        AddModule(place, path);
      } else if (by == OwnersBy::kOperator) {
        const std::string_view op = place.op.empty() ? place.node : place.op;
        if (!op.empty()) {
          path.push_back(op);
          AddParts(place.module, path);
        }
      } else {
        path.emplace_back(WordsOf(category, framework).name);
        AddModule(place, path);
      }
    }
    if (path.empty()) path.push_back(kNotKnown);
    AddPath(root, path, run.blocks[block].size, category);
  }
  return Grown("all", root);
}

bool IsKnown(const OwnerNode& root) {
  return root.bytes != 0 && !(root.children.size() == 1 && root.children.front().name == kNotKnown);
}

OwnerNode Abridged(const OwnerNode& tree, uint64_t least, size_t most_children) {
  OwnerNode node{tree.name, tree.bytes, tree.blocks, tree.categories, {}};
  OwnerNode others;
  size_t other_count = 0;
  for (const OwnerNode& child : tree.children) {
    if (child.bytes >= least && node.children.size() < most_children) {
      node.children.push_back(Abridged(child, least, most_children));
      continue;
    }
    ++other_count;
    others.bytes += child.bytes;
    others.blocks += child.blocks;
    for (size_t i = 0; i < others.categories.size(); ++i) others.categories[i] += child.categories[i];
  }
  if (other_count != 0) {
    others.name = std::to_string(other_count) + " smaller";
    node.children.push_back(std::move(others));
  }
  return node;
}

}  // namespace vramscope::report
