// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vramscope::fleet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Job JobOf(uint32_t ranks) {
  std::vector<RankSummary> all;
  for (uint32_t i = 0; i < ranks; ++i) {
    RankSummary rank;
    rank.rank = i;
    rank.host = i == 0 ? "a \"host\"\\\n" : "b";
    rank.device = "cuda:" + std::to_string(i);
    rank.mesh = {{"pp", i, ranks}, {"tp", 0, 1}};
    rank.peak_bytes = 100 + i;
    rank.last_bytes = 50;
    rank.last_reserved_bytes = 80;
    rank.categories[0] = 40;
    all.push_back(std::move(rank));
  }
  return Compare(std::move(all));
}

TEST(MetricsTest, PrometheusGetsALineForEachKnownFigure) {
  const std::string text = PrometheusText(JobOf(2));
  EXPECT_THAT(text, HasSubstr("# TYPE vramscope_ranks gauge\nvramscope_ranks 2\n"));
  EXPECT_THAT(
      text, HasSubstr("vramscope_unused_bytes{rank=\"1\",host=\"b\",device=\"cuda:1\",place=\"pp 1\"} 30\n"));
  EXPECT_THAT(text, HasSubstr("host=\"a \\\"host\\\"\\\\\\n\""));
  EXPECT_THAT(text, HasSubstr("category=\"parameter\"} 40"));
  EXPECT_THAT(text, Not(HasSubstr("vramscope_device_used_bytes"))) << "not known";
}

TEST(MetricsTest, SeriesAreBounded) {
  const std::string text = PrometheusText(JobOf(kMostRanksInMetrics + 10));
  size_t lines = 0;
  for (size_t at = text.find("\nvramscope_allocated_bytes{"); at != std::string::npos;
       at = text.find("\nvramscope_allocated_bytes{", at + 1))
    ++lines;
  EXPECT_EQ(lines, kMostRanksInMetrics);
  EXPECT_THAT(text, HasSubstr("vramscope_ranks 1034\n"));
  EXPECT_THAT(text, HasSubstr("{rank=\"1033\"")) << "the fullest";
  EXPECT_THAT(text, Not(HasSubstr("{rank=\"3\",")));
  EXPECT_THAT(text, Not(HasSubstr("category=")));
}

TEST(MetricsTest, OtlpHasTheSameFigures) {
  const auto json = nlohmann::json::parse(OtlpText(JobOf(2), 1700000000000000000));
  const auto& metrics = json["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
  const auto found = std::find_if(metrics.begin(), metrics.end(), [](const auto& metric) {
    return metric["name"] == "vramscope_unused_bytes";
  });
  ASSERT_NE(found, metrics.end());
  EXPECT_EQ((*found)["gauge"]["dataPoints"][1]["asInt"], "30");
  EXPECT_EQ((*found)["gauge"]["dataPoints"][1]["timeUnixNano"], "1700000000000000000");
  EXPECT_EQ((*found)["gauge"]["dataPoints"][1]["attributes"][0]["value"]["stringValue"], "1");
}

}  // namespace
}  // namespace vramscope::fleet
