// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestValue = 4096;
constexpr size_t kMostValues = 64;

const std::vector<Tool>& AllTools() {
  static const std::vector<Tool> tools = {
      {"info",
       "What is in a trace or snapshot: processes, devices, coverage of the hooks, losses.",
       InfoHelp,
       {},
       {}},
      {"report",
       "Where the memory of a run went: the peak, its categories and owners, each step, and what would save "
       "most.",
       ReportHelp,
       {"at", "steps", "top", "device", "process", "rank"},
       {}},
      {"whatif",
       "How much memory the program would need after a change, such as another batch size, optimizer or "
       "activation checkpointing. The answer is computed from one recorded step; nothing is run.",
       WhatifHelp,
       {"checkpoint", "batch", "optimizer", "shard", "offload", "free-early", "zero-grad", "alloc-conf",
        "empty-cache", "accumulate", "amp", "precision", "sweep", "compare", "device", "process", "rank"},
       {"--by", "transform"}},
      {"plan",
       "The cheapest changes that make a run fit into a device memory, such as 24GiB. The answer is computed "
       "from one recorded step; nothing is run.",
       PlanHelp,
       {"fit", "allow", "forbid", "top", "largest-batch", "smallest-gpu", "device", "process", "rank"},
       {"--by", "transform"}},
      {"oom",
       "Why a request ran out of memory, with proof, and what to change.",
       OomHelp,
       {"device", "process", "rank"},
       {}},
      {"leaks",
       "What grows from step to step, and what keeps it.",
       LeaksHelp,
       {"device", "process", "rank"},
       {}},
      {"frag",
       "How much memory is reserved but not used, why, and which blocks pin this memory.",
       FragHelp,
       {"at", "device", "process", "rank"},
       {}},
      {"explain",
       "Why nvidia-smi shows more memory than PyTorch.",
       ExplainHelp,
       {"at", "device", "process", "rank"},
       {}},
  };
  return tools;
}

// The tool's options as the verb describes them. An option that this verb does not have is left out.
std::vector<Option> OptionsOf(const Tool& tool) {
  std::vector<Option> options;
  for (const Option& option : AllOptions(tool.help())) {
    const bool offered = std::any_of(tool.options.begin(), tool.options.end(),
                                     [&](const char* name) { return std::string_view(name) == option.name; });
    if (offered) options.push_back(option);
  }
  return options;
}

std::string OneLineOf(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

bool Repeats(const Option& option) {
  return std::string_view(option.help).find("Can be") != std::string_view::npos;
}

Result<std::string> ValueOf(const Option& option, const Json& value) {
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() <= kLongestValue && text.find('\0') == std::string::npos) return text;
  }
  return Error{
      fmt::format("'{}' must be a string of at most {} bytes, or an integer.", option.name, kLongestValue)};
}

Status AddOption(const Option& option, const Json& value, std::vector<std::string>& words) {
  if (option.value == nullptr) {
    if (!value.is_boolean()) return Error{fmt::format("'{}' must be true or false.", option.name)};
    if (value.get<bool>()) words.push_back(fmt::format("--{}", option.name));
    return {};
  }
  const Json values = value.is_array() ? value : Json::array({value});
  if (values.size() > kMostValues || (value.is_array() && !Repeats(option)))
    return Error{fmt::format("'{}' takes {}.", option.name,
                             Repeats(option) ? fmt::format("at most {} values", kMostValues) : "one value")};
  for (const Json& each : values) {
    const std::string text = VRAMSCOPE_TRY(ValueOf(option, each));
    words.push_back(
        fmt::format("--{}={}", option.name, text));  // as one word: it cannot become another option
  }
  return {};
}

Json SchemaOf(const Option& option) {
  const std::string about = OneLineOf(option.help);
  if (option.value == nullptr) return {{"type", "boolean"}, {"description", about}};
  Json types = {"string", "integer"};
  if (Repeats(option)) types.push_back("array");
  return {{"type", types}, {"description", fmt::format("{} ({})", about, option.value)}};
}

}  // namespace

std::span<const Tool> Tools() { return AllTools(); }

const Tool* ToolNamed(const std::string& name) {
  const auto& tools = AllTools();
  const auto found =
      std::find_if(tools.begin(), tools.end(), [&](const Tool& tool) { return name == tool.name; });
  return found == tools.end() ? nullptr : &*found;
}

Json InputSchema(const Tool& tool) {
  Json properties = {{"file",
                      {{"type", "string"},
                       {"description", "A trace or snapshot in the served folder, as list_runs names it."}}}};
  for (const Option& option : OptionsOf(tool)) properties[option.name] = SchemaOf(option);
  return {{"type", "object"},
          {"properties", properties},
          {"required", Json::array({"file"})},
          {"additionalProperties", false}};
}

Result<std::vector<std::string>> WordsOf(const Tool& tool, const ServedFolder& folder,
                                         const Json& arguments) {
  if (!arguments.is_object() || !arguments.contains("file") || !arguments["file"].is_string())
    return Error{"'file' is missing: name a trace or snapshot of the served folder."};
  const std::string file = VRAMSCOPE_TRY(folder.FileNamed(arguments["file"].get<std::string>()));
  std::vector<std::string> words = {file, "--json", "--quiet"};
  words.insert(words.end(), tool.always.begin(), tool.always.end());
  const std::vector<Option> options = OptionsOf(tool);
  for (const auto& item : arguments.items()) {
    const std::string& key = item.key();
    if (key == "file") continue;
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const Option& each) { return key == each.name; });
    if (option == options.end())
      return Error{fmt::format("{} has no argument '{}'.", tool.name, Printable(key))};
    VRAMSCOPE_TRY(AddOption(*option, item.value(), words));
  }
  return words;
}

}  // namespace vramscope::cli
