// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/recording_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

// True if `text` is "2-4" or "3"; steps are 1-based.
bool IsStepRange(std::string_view text) {
  uint32_t first = 0;
  uint32_t last = 0;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, first);
  last = first;
  if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-') {
    parsed = std::from_chars(parsed.ptr + 1, end, last);
  }
  return parsed.ec == std::errc() && parsed.ptr == end && first >= 1 && last >= first;
}

constexpr uint32_t kMostBlackBoxSteps = 10'000;
constexpr size_t kMostStepRanges = 16;  // the limit of the injector

}  // namespace

Status CheckSteps(const std::string& text) {
  std::string_view rest = text;
  for (size_t count = 1; count <= kMostStepRanges; ++count) {
    const size_t comma = rest.find(',');
    if (!IsStepRange(rest.substr(0, comma))) break;
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
  return Error{
      fmt::format("--deep-steps needs a range of steps counted from 1, like 2-4, or up to {} of them, like "
                  "2-4,100, not '{}'.",
                  kMostStepRanges, Printable(text))};
}

Status ReadStacks(const Arguments& arguments, collector::RecordOptions& options) {
  options.stacks = arguments.Get("stacks", options.stacks);
  options.embed_source = arguments.Has("embed-source");
  VRAMSCOPE_TRY(CheckChoice("stacks", options.stacks, {"none", "python", "native", "all"}));
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

Status ReadBlackBox(const Arguments& arguments, collector::RecordOptions& options) {
  if (!arguments.Has("black-box")) return {};
  const std::string text = arguments.Get("black-box");
  uint32_t& steps = options.black_box_steps;
  steps = text::ParseNumber<uint32_t>(text).value_or(0);
  if (steps == 0 || steps > kMostBlackBoxSteps) {
    return Error{fmt::format("--black-box is a number of steps from 1 to {}, not '{}'.", kMostBlackBoxSteps,
                             Printable(text))};
  }
  if (arguments.Has("max-size"))
    return Error{"--black-box keeps the last steps, --max-size the first ones. Leave out one of the two."};
  return {};
}

Status ReadProgram(const Arguments& arguments, collector::RecordOptions& options) {
  const std::string wanted = arguments.Get("program", options.program ? "on" : "off");
  options.program = wanted == "on";
  return CheckChoice("program", wanted, {"on", "off"});
}

}  // namespace vramscope::cli
