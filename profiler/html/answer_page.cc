// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/answer_page.h"

#include <nlohmann/json.hpp>

#include "profiler/html/assets.h"
#include "profiler/html/document.h"
#include "profiler/html/fit.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kDiffBudget = 1'500'000;
constexpr size_t kFleetBudget = 2'000'000;
constexpr size_t kLongestHeadline = 600;

std::string MakeAnswerPage(const AnswerContent& content, size_t budget, std::string_view script,
                           std::string_view script_hash) {
  Json report = Json::parse(content.document);
  Json picture = {{"headline", CutText(content.headline, kLongestHeadline)}, {"version", content.version}};
  if (const auto heat = report.find("heat"); heat != report.end()) {
    picture["heat"] = std::move(*heat);  // needs no Fit(): numbers, with a limit on rows and columns
    report.erase(heat);
  }
  picture["left_out"] = Fit(report, budget);
  picture["categories"] = CategoryLegend(*content.framework);
  return MakeDocument({.title = content.title,
                       .version = content.version,
                       .noscript = "This page is drawn by its own script, which is turned off here. The "
                                   "numbers are in this file as JSON.",
                       .script = script,
                       .script_hash = script_hash},
                      report, picture);
}

}  // namespace

std::string MakeDiffPage(const AnswerContent& content) {
  return MakeAnswerPage(content, kDiffBudget, kDiffScript, kDiffScriptHash);
}

std::string MakeFleetPage(const AnswerContent& content) {
  return MakeAnswerPage(content, kFleetBudget, kFleetScript, kFleetScriptHash);
}

}  // namespace vramscope::html
