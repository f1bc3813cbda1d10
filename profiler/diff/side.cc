// SPDX-License-Identifier: Apache-2.0
#include "profiler/diff/compare.h"
#include "profiler/report/build.h"

namespace vramscope::diff {

Result<Side> SideOf(const std::string& path, const classify::Analysis& analysis, report::Request request) {
  request.top = 0;
  request.blocks = true;
  request.at = {{}};
  report::Answer answer = VRAMSCOPE_TRY(PrefixError(path, report::BuildAnswer(analysis, request)));
  Side side;
  side.path = path;
  side.facts = FactsOf(analysis, answer);
  side.answer = std::move(answer);
  return side;
}

Status IsComparable(const Side& side) {
  if (!side.answer.device.empty()) return {};
  const std::string& why = side.answer.no_blocks;
  return Error{side.path + ": this run allocated nothing, so there is nothing to compare." +
               (why.empty() ? "" : " " + why)};
}

}  // namespace vramscope::diff
