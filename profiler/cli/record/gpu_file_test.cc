// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/gpu_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vramscope::cli {
namespace {

using testing::HasSubstr;

const std::vector<collector::GpuModel> kKnown = {{"t4", "Tesla T4", 1ull << 30, 0, ""}};

nlohmann::json OwnGpu() {
  return {{"name", "rtx-a4000"},
          {"product", "NVIDIA RTX A4000"},
          {"compute_capability", "8.6"},
          {"multiprocessors", 48},
          {"memory_mib", 16108},
          {"l2_cache_mib", 4},
          {"shared_memory_kib", 100},
          {"threads_per_multiprocessor", 1536},
          {"blocks_per_multiprocessor", 16},
          {"clock_mhz", 1560},
          {"memory_clock_mhz", 7001},
          {"bus_bits", 256},
          {"context_mib", 260}};
}

std::string Complaint(const nlohmann::json& document) {
  const auto models = ParseGpuFile(document.dump(), "my.json", kKnown);
  return models.ok() ? "" : models.error().sentence;
}

std::string Complaint(const char* field, const nlohmann::json& value) {
  nlohmann::json gpu = OwnGpu();
  gpu[field] = value;
  return Complaint(gpu);
}

TEST(GpuFileTest, ReadsOneOrSeveral) {
  const auto one = ParseGpuFile(OwnGpu().dump(), "my.json", kKnown);
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front().name, "rtx-a4000");
  EXPECT_EQ(one->front().capacity_bytes, uint64_t{16108} << 20);
  EXPECT_EQ(one->front().context_bytes, uint64_t{260} << 20);
  EXPECT_EQ(one->front().description,
            "rtx-a4000;NVIDIA RTX A4000;8;6;48;16108;4;100;1536;16;1560;7001;256;260");
  nlohmann::json other = OwnGpu();
  other["name"] = "other";
  EXPECT_EQ(ParseGpuFile(nlohmann::json::array({OwnGpu(), other}).dump(), "my.json", kKnown)->size(), 2u);
}

TEST(GpuFileTest, NamesTheFieldThatIsMissingOrUnknown) {
  nlohmann::json gpu = OwnGpu();
  gpu.erase("bus_bits");
  EXPECT_THAT(Complaint(gpu), HasSubstr("my.json: rtx-a4000: \"bus_bits\" is missing"));
  EXPECT_THAT(Complaint("memory_mb", 1),
              HasSubstr("\"memory_mb\" is not a field of a GPU; did you mean \"memory_mib\"?"));
}

TEST(GpuFileTest, RefusesNonsense) {
  EXPECT_THAT(Complaint("memory_mib", "16 GB"), HasSubstr("\"memory_mib\" must be a whole number from 256"));
  EXPECT_THAT(Complaint("memory_mib", -5), HasSubstr("whole number"));
  EXPECT_THAT(Complaint("memory_mib", 16.5), HasSubstr("whole number"));
  EXPECT_THAT(Complaint("multiprocessors", 0), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(Complaint("compute_capability", 8.6), HasSubstr("like \"8.6\""));
  EXPECT_THAT(Complaint("product", "a;b"), HasSubstr("plain letters"));
  EXPECT_THAT(Complaint("name", "My GPU"), HasSubstr("lowercase letters"));
  EXPECT_THAT(Complaint("context_mib", 16200), HasSubstr("must be less than"));
}

TEST(GpuFileTest, ANameStandsForOneGpu) {
  EXPECT_THAT(Complaint("name", "t4"), HasSubstr("choose another"));
  EXPECT_THAT(Complaint("name", "all"), HasSubstr("choose another"));
  EXPECT_THAT(Complaint(nlohmann::json::array({OwnGpu(), OwnGpu()})), HasSubstr("choose another"));
}

TEST(GpuFileTest, SaysWhatIsNeededWhenItIsNoDescription) {
  for (const char* text : {"", "[]", "[1]", "3", "{\"name\": ", "null"})
    EXPECT_THAT(ParseGpuFile(text, "my.json", kKnown).error().sentence, HasSubstr("a JSON object")) << text;
  EXPECT_THAT(ReadGpuFile("/nowhere/my.json", kKnown).error().sentence, HasSubstr("cannot be read"));
}

TEST(GpuFileTest, WhatIsNoDescriptionIsRefusedInOneSentenceHoweverLargeOrDeep) {
  const auto complaint = [](const Result<std::vector<collector::GpuModel>>& models) {
    return models.ok() ? "" : models.error().sentence;
  };
  EXPECT_THAT(complaint(ReadGpuFile("/dev/zero", kKnown)),
              HasSubstr("more than 1.0 MiB, so it is not a description"));
  EXPECT_THAT(complaint(ReadGpuFile("/", kKnown)), HasSubstr("cannot be read: Is a directory"));
  EXPECT_THAT(complaint(ReadGpuFile("/dev/null", kKnown)), HasSubstr("a JSON object that describes a GPU"));
  const std::string deep(500'000, '[');
  EXPECT_THAT(complaint(ParseGpuFile(deep + std::string(deep.size(), ']'), "my.json", kKnown)),
              HasSubstr("a JSON object that describes a GPU"));
}

}  // namespace
}  // namespace vramscope::cli
