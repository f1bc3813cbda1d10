// SPDX-License-Identifier: Apache-2.0
// Oracles: the report's own answer, and timeline::DeviceCurve. tests/html_report tests how a browser displays
// the page.
#include "profiler/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/html/answer_page.h"
#include "profiler/html/fit.h"
#include "profiler/model/testing/script.h"
#include "profiler/model/testing/training_loop.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::html {
namespace {

using model::testing::Script;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Json DataOf(const std::string& page, const std::string& id) {
  const std::string opening = "<script type=\"application/json\" id=\"" + id + "\">";
  const size_t begin = page.find(opening) + opening.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

Script OneStep(const std::string& parameter) {
  Script s;
  s.Device(model::testing::kCuda0).Alloc("w", 4096).Parameter("w", parameter);
  s.Op("aten::linear", [&] { s.Alloc("hidden", 1024).SavedOutput("hidden"); });
  s.Backward([&] { s.Alloc("g", 4096).Gradient("g", "w").Released("hidden").Free("hidden"); });
  s.Optimizer("SGD", [&] {});
  s.Free("g").Free("w");
  return s;
}

struct Made {
  explicit Made(const Script& script, const std::string& title = "run.vms")
      : run(script.Load()), analysis(run), answer(report::BuildAnswer(analysis, {}).value()) {
    page = MakePage({.analysis = analysis, .answer = answer, .title = title, .version = "1.2.3"});
  }
  model::Run run;
  classify::Analysis analysis;
  report::Answer answer;
  std::string page;
};

TEST(PageTest, HoldsTheReportThatJsonPrints) {
  const Made made(OneStep("layer.weight"));
  EXPECT_EQ(DataOf(made.page, "report"), Json::parse(report::ToJson(made.answer)));
  EXPECT_EQ(DataOf(made.page, "picture")["file"], "run.vms");
}

TEST(PageTest, LoadsNothingAndLetsNothingElseRun) {
  const Made made(OneStep("layer.weight"));
  EXPECT_THAT(made.page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-"));
  EXPECT_EQ(Count(made.page, "<script"), 3u);  // two of data, one that runs
  EXPECT_EQ(Count(made.page, "</script>"), 3u);
  EXPECT_EQ(Count(made.page, "<style>"), 1u);
  for (const char* loads : {"http:", "https:", "src=", "href=", "@import", "url(", "innerHTML", "onclick="})
    EXPECT_THAT(made.page, Not(HasSubstr(loads)));
}

TEST(PageTest, NamesThatLookLikeMarkupAreTexts) {
  const std::string hostile = "</script><script>alert(1)</script><!-- \"quoted\" 'x' &amp;\n\x1b[31mred";
  const Made made(OneStep(hostile), hostile);
  EXPECT_EQ(Count(made.page, "<script"), 3u);
  EXPECT_EQ(Count(made.page, "<!--"), 0u);
  EXPECT_EQ(Count(made.page, "\x1b"), 0u);
  EXPECT_THAT(made.page, HasSubstr("<title>&lt;/script&gt;&lt;script&gt;"));
  EXPECT_EQ(DataOf(made.page, "report"),
            Json::parse(report::ToJson(made.answer)));  // the names in the data are unchanged
}

TEST(PageTest, TheHighestColumnIsThePeak) {
  model::testing::TrainingShape shape;
  shape.events = 60'000;
  shape.layers = 4;
  const model::Run run = model::Load(model::testing::MakeTrainingTrace(shape)).value();
  const classify::Analysis analysis(run);
  const report::Answer answer = report::BuildAnswer(analysis, {}).value();
  const std::string page = MakePage({.analysis = analysis, .answer = answer, .title = "t", .version = "1"});
  const Json columns = DataOf(page, "picture")["columns"];
  const size_t count = columns["begin_ns"].size();
  EXPECT_LT(count, 7000u);
  std::vector<uint64_t> totals(count);
  for (const auto& [key, differences] : columns["categories"].items()) {
    int64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      totals[i] += static_cast<uint64_t>(value += differences[i].get<int64_t>());
  }
  EXPECT_EQ(*std::max_element(totals.begin(), totals.end()), answer.peak.allocated_bytes);
  const Json tree = DataOf(page, "picture")["owners"]["modules"];
  ASSERT_TRUE(tree.is_array());
  EXPECT_EQ(tree[1], answer.peak.allocated_bytes);
  uint64_t children = 0;
  for (const Json& child : tree[3]) children += child[1].get<uint64_t>();
  EXPECT_EQ(children, answer.peak.allocated_bytes);
}

TEST(PageTest, NothingMakesItLargerThanItsBound) {
  Made made(OneStep("layer.weight"));
  report::Answer& answer = made.answer;
  const std::string longest(1 << 20, '<');  // each character has six bytes when embedded
  answer.command_line = longest;
  answer.peak.module = longest;
  for (int i = 0; i < 3'000; ++i) {
    report::Step step = answer.steps.front();
    step.number = static_cast<uint32_t>(i + 2);
    step.peak.allocated_bytes = 100;
    answer.steps.push_back(step);
  }
  answer.steps[1'000].peak.allocated_bytes = answer.peak.allocated_bytes;
  for (int i = 0; i < 700; ++i) {
    answer.coverage.push_back({std::string(1'000, '<'), {}, std::string(1'000, '"'), 1});
    answer.owners.push_back({.kind = report::Owner::Kind::kStack,
                             .name = std::string(1'000, '\x01'),
                             .bytes = 1,
                             .frames = std::vector<std::string>(40, std::string(200, '\\'))});
  }
  const std::string page =
      MakePage({.analysis = made.analysis, .answer = answer, .title = longest, .version = "1"});
  EXPECT_LT(page.size(), kMostBytes);
  const Json report = DataOf(page, "report");
  EXPECT_EQ(report["peak"]["allocated_bytes"], answer.peak.allocated_bytes);
  const Json& steps = report["steps"];
  EXPECT_EQ(steps.front()["step"], 1);
  EXPECT_EQ(steps.back()["step"], 3'001);
  EXPECT_TRUE(
      std::any_of(steps.begin(), steps.end(), [](const Json& step) { return step["step"] == 1'001; }));
  EXPECT_EQ(DataOf(page, "picture")["left_out"]["steps"], answer.steps.size() - steps.size());
}

TEST(DiffPageTest, HoldsTheDocumentAndIsAsSafeAsTheReport) {
  const std::string hostile = "</script><script>alert(1)</script><!-- \x1b[31m";
  const Json side = {{"file", hostile}, {"peak", {{"allocated_bytes", 1}}}};
  const Json document = {{"before", side}, {"after", side}, {"change_bytes", -7}, {"steps", Json::array()}};
  const std::string page =
      MakeDiffPage({.document = document.dump(), .headline = hostile, .title = hostile, .version = "1.2.3"});
  EXPECT_EQ(DataOf(page, "report"), document);
  EXPECT_EQ(DataOf(page, "picture")["headline"], hostile);
  EXPECT_EQ(Count(page, "<script"), 3u);  // two of data, one that runs
  EXPECT_EQ(Count(page, "<!--"), 0u);
  EXPECT_EQ(Count(page, "\x1b"), 0u);
  for (const char* loads : {"http:", "https:", "src=", "href=", "@import", "url(", "innerHTML", "onclick="})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
}

TEST(DiffPageTest, NothingMakesItLargerThanItsBound) {
  Json owners = Json::array();
  for (int i = 0; i < 50'000; ++i) owners.push_back({{"name", std::string(1'000, '<')}, {"change_bytes", i}});
  Json steps = Json::array();
  for (int i = 1; i <= 50'000; ++i) steps.push_back({{"step", i}, {"before_bytes", 1}, {"after_bytes", 2}});
  const Json document = {{"change_bytes", 1}, {"owners", owners}, {"steps", steps}};
  const std::string page = MakeDiffPage(
      {.document = document.dump(), .headline = std::string(1 << 20, '<'), .title = "t", .version = "1"});
  EXPECT_LT(page.size(), kMostBytes);
  const Json kept = DataOf(page, "report")["steps"];
  EXPECT_EQ(DataOf(page, "picture")["left_out"]["steps"], 50'000 - kept.size());
}

TEST(FleetPageTest, HoldsTheDocumentAndIsAsSafeAsTheReport) {
  const std::string hostile = "</script><script>alert(1)</script><!-- \x1b[31m";
  Json document = {{"ranks", Json::array({{{"rank", 1}, {"host", hostile}}})}, {"findings", Json::array()}};
  document["heat"] = {{"first_step", 1}, {"rows", Json::array({{{"name", hostile}, {"bytes", {1, 2}}}})}};
  const std::string page =
      MakeFleetPage({.document = document.dump(), .headline = hostile, .title = hostile, .version = "1.2.3"});
  EXPECT_EQ(DataOf(page, "picture")["heat"], document["heat"]);
  document.erase("heat");
  EXPECT_EQ(DataOf(page, "report"), document);
  EXPECT_EQ(Count(page, "<script"), 3u);
  EXPECT_EQ(Count(page, "<!--"), 0u);
  EXPECT_EQ(Count(page, "\x1b"), 0u);
  for (const char* loads : {"http:", "https:", "src=", "href=", "@import", "url(", "innerHTML", "onclick="})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
}

TEST(FitTest, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(CutText("short", 5), "short");
  EXPECT_EQ(CutText("a\u00e9\u00e9", 4), "a\u00e9\u2026");
  EXPECT_EQ(CutText("\U0001F600\U0001F600", 7), "\U0001F600\u2026");
}

}  // namespace
}  // namespace vramscope::html
