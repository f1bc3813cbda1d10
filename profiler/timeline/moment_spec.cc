// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/moment_spec.h"

#include <optional>
#include <utility>

#include "profiler/text/number.h"

namespace vramscope::timeline {
namespace {

using Kind = MomentSpec::Kind;

constexpr std::pair<std::string_view, Kind> kWords[] = {{"peak", Kind::kPeak},
                                                        {"reserved", Kind::kReserved},
                                                        {"worst", Kind::kWorst},
                                                        {"end", Kind::kEnd},
                                                        {"oom", Kind::kOutOfMemory}};
constexpr std::pair<std::string_view, Kind> kNumbered[] = {{"oom:", Kind::kOutOfMemory},
                                                           {"step:", Kind::kStep},
                                                           {"event:", Kind::kEvent},
                                                           {"mono:", Kind::kMonotonic},
                                                           {"", Kind::kTime}};

}  // namespace

Result<MomentSpec> ParseMoment(std::string_view text) {
  for (const auto& [word, kind] : kWords)
    if (text == word) return MomentSpec{kind, 0, std::string(text)};
  for (const auto& [prefix, kind] : kNumbered) {
    if (!text.starts_with(prefix)) continue;
    const std::optional<uint64_t> number = text::ParseNumber<uint64_t>(text.substr(prefix.size()));
    const bool from_one = kind == Kind::kOutOfMemory || kind == Kind::kStep;
    if (!number.has_value() || (from_one && *number == 0)) break;
    return MomentSpec{kind, *number, std::string(text)};
  }
  return Error{"\"" + std::string(text) +
               "\" is not a moment; use peak, reserved, worst, end, oom, oom:2, step:3, event:1200, "
               "nanoseconds since the trace's start, or mono:NS."};
}

}  // namespace vramscope::timeline
