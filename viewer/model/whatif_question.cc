// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/whatif_question.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "profiler/experiment/question.h"
#include "profiler/text/shell_word.h"

namespace vramscope::viewer {
namespace {

using whatif::ModuleNode;

bool IsBelow(const std::vector<ModuleNode>& tree, size_t node, size_t above) {
  for (uint32_t i = tree[node].parent; i != model::kNone; i = tree[i].parent) {
    if (i == above) return true;
  }
  return false;
}

}  // namespace

std::vector<whatif::Asked> AskedBy(const WhatIfQuestion& question, const std::set<std::string>& blocks) {
  std::vector<whatif::Asked> asked;
  if (auto rerun = experiment::ReadVariantKey(question.rerun)) asked = std::move(rerun->changes);
  if (!question.shard.empty())
    asked.push_back({"shard", question.shard + ":" + std::to_string(question.ranks)});
  if (!question.checkpoints.empty()) {
    std::string paths;
    for (const std::string& path : question.checkpoints) paths += (paths.empty() ? "" : ",") + path;
    asked.push_back({"checkpoint", question.checkpoints == blocks ? "all" : paths});
  }
  if (question.offload_optimizer) asked.push_back({"offload", "optimizer"});
  if (!question.optimizer.empty())
    asked.push_back({"optimizer", question.optimizer + ":" + question.optimizer_way});
  if (question.keep_gradients) asked.push_back({"zero-grad", "keep"});
  if (question.settings) asked.push_back({"alloc-conf", *question.settings});
  if (!question.empty_cache.empty()) asked.push_back({"empty-cache", question.empty_cache});
  return asked;
}

std::set<std::string> PathsOf(const whatif::Step& step, std::string_view value) {
  std::set<std::string> paths;
  const auto calls = whatif::ChooseSegments(step, value);
  if (!calls.ok()) return paths;
  for (const uint32_t call : *calls) paths.emplace(step.Text(step.modules[call].name));
  return paths;
}

WhatIfQuestion QuestionOf(const std::vector<whatif::Asked>& asked, const whatif::Step& step) {
  WhatIfQuestion question;
  for (const whatif::Asked& one : asked) {
    const size_t colon = std::min(one.value.find(':'), one.value.size());
    if (one.lever == "checkpoint") question.checkpoints = PathsOf(step, one.value);
    if (one.lever == "optimizer") question.optimizer = one.value.substr(0, colon);
    if (one.lever == "optimizer" && colon < one.value.size())
      question.optimizer_way = one.value.substr(colon + 1);
    if (one.lever == "alloc-conf") question.settings = one.value;
    if (one.lever == "empty-cache") question.empty_cache = one.value;
  }
  return question;
}

std::string CommandFor(const std::string& path, const std::vector<whatif::Asked>& asked,
                       const std::string& gpu) {
  std::string command = "vramscope whatif " + text::ShellWord(path);
  for (const whatif::Asked& one : asked) command += " --" + one.lever + " " + text::ShellWord(one.value);
  return gpu.empty() ? command : command + " --gpu " + text::ShellWord(gpu);
}

ModuleChoices ModulesOf(const whatif::Step& step) {
  return {whatif::ModuleTree(step), PathsOf(step, "all"), PathsOf(step, "every:2")};
}

Tick TickOf(const std::vector<ModuleNode>& tree, size_t node, const std::set<std::string>& ticked) {
  if (ticked.contains(tree[node].path) || TickedAbove(tree, node, ticked)) return Tick::kOn;
  bool some = false;
  bool all_next = tree[node].calls == 0;  // of the modules next below a name
  for (size_t i = node + 1; i < tree.size() && tree[i].depth > tree[node].depth; ++i) {
    const bool on = ticked.contains(tree[i].path);
    some |= on;
    if (tree[i].parent == node && TickOf(tree, i, ticked) != Tick::kOn) all_next = false;
  }
  return !some ? Tick::kOff : all_next ? Tick::kOn : Tick::kSome;
}

void SetTick(const std::vector<ModuleNode>& tree, size_t node, bool on, std::set<std::string>& ticked) {
  ticked.erase(tree[node].path);
  for (size_t i = node + 1; i < tree.size() && IsBelow(tree, i, node); ++i) ticked.erase(tree[i].path);
  if (!on) return;
  if (tree[node].calls != 0) {
    ticked.insert(tree[node].path);
    return;
  }
  for (size_t i = node + 1; i < tree.size() && IsBelow(tree, i, node); ++i) {
    if (tree[i].parent == node) SetTick(tree, i, true, ticked);
  }
}

bool TickedAbove(const std::vector<ModuleNode>& tree, size_t node, const std::set<std::string>& ticked) {
  for (uint32_t i = tree[node].parent; i != model::kNone; i = tree[i].parent) {
    if (ticked.contains(tree[i].path)) return true;
  }
  return false;
}

}  // namespace vramscope::viewer
