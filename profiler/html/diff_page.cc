// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/diff_page.h"

#include <nlohmann/json.hpp>

#include "profiler/html/assets.h"
#include "profiler/html/document.h"
#include "profiler/html/fit.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBudget = 1'500'000;
constexpr size_t kLongestHeadline = 600;

}  // namespace

std::string MakeDiffPage(const DiffContent& content) {
  Json report = Json::parse(content.document);
  const Json left_out = Fit(report, kBudget);
  const Json picture = {{"headline", CutText(content.headline, kLongestHeadline)},
                        {"version", content.version},
                        {"left_out", left_out},
                        {"categories", CategoryLegend()}};
  return MakeDocument(
      {.title = content.title,
       .version = content.version,
       .noscript = "This comparison is drawn by its own script, which is turned off here. The "
                   "numbers are in this file as JSON.",
       .script = kDiffScript,
       .script_hash = kDiffScriptHash},
      report, picture);
}

}  // namespace vramscope::html
