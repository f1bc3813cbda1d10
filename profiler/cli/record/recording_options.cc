// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/recording_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramscope::cli {

Status CheckChoice(const char* option, const std::string& value,
                   std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
  std::string listed;
  for (const std::string_view choice : choices)
    listed += fmt::format("{}{}", listed.empty() ? "" : ", ", choice);
  return Error{fmt::format("--{} must be one of {}, not '{}'.", option, listed, Printable(value))};
}

Status ReadStacks(const Arguments& arguments, collector::RecordOptions& options) {
  options.stacks = arguments.Get("stacks", options.stacks);
  options.embed_source = arguments.Has("embed-source");
  if (Status choice = CheckChoice("stacks", options.stacks, {"none", "python", "native", "all"});
      !choice.ok())
    return choice;
  if (options.stacks != "none" && options.depth == "light") {
    return Error{
        fmt::format("--stacks {} needs deep steps, and --depth light has none. Leave out one of the two.",
                    options.stacks)};
  }
  if (options.embed_source && options.stacks == "none") {
    return Error{"--embed-source needs recorded stacks. Add --stacks python."};
  }
  return {};
}

Status ReadProgram(const Arguments& arguments, collector::RecordOptions& options) {
  const std::string wanted = arguments.Get("program", options.program ? "on" : "off");
  options.program = wanted == "on";
  return CheckChoice("program", wanted, {"on", "off"});
}

}  // namespace vramscope::cli
