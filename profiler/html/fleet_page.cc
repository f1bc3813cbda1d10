// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/fleet_page.h"

#include <nlohmann/json.hpp>

#include "profiler/html/assets.h"
#include "profiler/html/document.h"
#include "profiler/html/fit.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFleetBudget = 2'000'000;
constexpr size_t kLongestFleetHeadline = 600;

}  // namespace

std::string MakeFleetPage(const FleetContent& content) {
  Json report = Json::parse(content.document);
  const Json heat = std::move(report["heat"]);  // numbers, and bounded by their rows and columns
  report.erase("heat");
  const Json left_out = Fit(report, kFleetBudget);
  const Json picture = {{"headline", CutText(content.headline, kLongestFleetHeadline)},
                        {"version", content.version},
                        {"heat", heat},
                        {"left_out", left_out},
                        {"categories", CategoryLegend()}};
  return MakeDocument({.title = content.title,
                       .version = content.version,
                       .noscript = "This page is drawn by its own script, which is turned off here. The "
                                   "numbers are in this file as JSON.",
                       .script = kFleetScript,
                       .script_hash = kFleetScriptHash},
                      report, picture);
}

}  // namespace vramscope::html
