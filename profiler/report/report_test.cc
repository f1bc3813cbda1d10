// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/model/testing/driver_script.h"
#include "profiler/model/testing/script.h"
#include "profiler/report/build.h"
#include "profiler/report/headline.h"
#include "profiler/report/json.h"

namespace vramscope::report {
namespace {

using classify::Category;
using model::testing::kCpuDevice;
using model::testing::kCuda0;
using model::testing::Script;
using ::testing::HasSubstr;

// Two layers in a stack, three steps, the second of them deep.
Script TwoLayers() {
  Script s;
  s.Alloc("w0", 1000).Parameter("w0", "layers.0.weight").Alloc("w1", 1000).Parameter("w1", "layers.1.weight");
  s.Alloc("head", 100).Parameter("head", "head");
  for (int step = 1; step <= 3; ++step) {
    s.Data([&] { s.Alloc("batch", 64); });
    for (const std::string layer : {"0", "1"}) {
      const auto forward = [&] { s.Alloc("act" + layer, 500).SavedOutput("act" + layer); };
      if (step == 2) {
        s.Module("layers." + layer, [&] { s.Op("aten::linear", [&] { s.Op("aten::addmm", forward); }); });
      } else {
        forward();
      }
    }
    s.Backward([&] {
      for (const std::string layer : {"1", "0"}) {
        s.Alloc("g" + layer, 1000).Gradient("g" + layer, "w" + layer);
        s.Released("act" + layer).Free("act" + layer);
      }
    });
    s.Optimizer("SGD", [&] {
      if (step == 1)
        s.Alloc("m0", 1000)
            .Label("m0", trace::Role::kOptimizerState, trace::LabelSource::kOptimizer,
                   "momentum_buffer of layers.0.weight");
    });
    s.Free("g0").Free("g1").Free("batch");
  }
  return s;
}

// The answer to `request` for the recording of `script`.
Result<Answer> Ask(const Script& script, const Request& request = {}) {
  const auto run = script.Load();
  return BuildAnswer(classify::Analysis(run), request);
}

Request At(std::initializer_list<const char*> moments) {
  Request request;
  for (const char* moment : moments) request.at.push_back(ParseMoment(moment).value());
  return request;
}

uint64_t In(const Moment& moment, Category category) {
  return moment.categories[static_cast<size_t>(category)];
}

TEST(ReportTest, ThePeakSaysWhenWhereAndOfWhat) {
  const Answer answer = Ask(TwoLayers()).value();
  // 3 weights, optimizer state, batch, both activations and the gradient of layer 1; then one activation is
  // freed and the gradient of layer 0 is allocated.
  EXPECT_EQ(answer.peak.allocated_bytes, 2100u + 1000 + 64 + 500 + 2000);
  EXPECT_EQ(answer.peak.step, 2u);
  EXPECT_EQ(answer.peak.phase, timeline::Phase::kBackward);
  EXPECT_EQ(classify::Sum(answer.peak.categories), answer.peak.allocated_bytes);
  EXPECT_EQ(In(answer.peak, Category::kParameter), 2100u);
  EXPECT_EQ(In(answer.peak, Category::kOptimizerState), 1000u);
  EXPECT_EQ(In(answer.peak, Category::kActivation), 500u);
  EXPECT_EQ(In(answer.peak, Category::kGradient), 1000u);
  EXPECT_EQ(In(answer.peak, Category::kTemporaryBackward), 1000u) << "the gradient that is not labeled yet";
  EXPECT_EQ(In(answer.peak, Category::kInput), 64u);
  EXPECT_EQ(answer.peak.module, "layers.0");
}

TEST(ReportTest, ARunOfTensorFlowIsToldInItsWords) {
  Script s;
  s.trace().SetMetadata("tensorflow.version", "2.21.0");
  s.Alloc("weight", 400).Parameter("weight", "mlp/fc1/kernel");
  const model::Run run = s.Load();
  const Answer answer = BuildAnswer(classify::Analysis(run), {}).value();
  EXPECT_EQ(answer.framework_version, "2.21.0");
  EXPECT_EQ(answer.torch_version(), "");
  EXPECT_THAT(PeakClause(answer), HasSubstr("variables 400 B"));
  EXPECT_STREQ(WordsOf(DeviceRow::kAllocated, *answer.framework).name, "TensorFlow, allocated");
}

TEST(ReportTest, StepsTellTheirPeaksAndWhatTheyHandedOut) {
  const Answer answer = Ask(TwoLayers()).value();
  ASSERT_EQ(answer.steps.size(), 3u);
  EXPECT_EQ(answer.steps[0].peak.allocated_bytes, 5100u + 64)
      << "with the new momentum, before the gradients go";
  EXPECT_EQ(answer.steps[0].peak.phase, timeline::Phase::kOptimizer);
  EXPECT_EQ(answer.steps[2].peak.allocated_bytes, answer.peak.allocated_bytes);
  EXPECT_EQ(answer.steps[2].allocations, 5u);
  EXPECT_EQ(answer.steps[2].handed_out_bytes, 64u + 1000 + 2000);
  EXPECT_TRUE(answer.steps[1].deep);
  EXPECT_EQ(classify::Sum(answer.steps[2].peak.categories), answer.steps[2].peak.allocated_bytes);
}

TEST(ReportTest, OwnersAreModulesParametersAndOps) {
  const Answer answer = Ask(TwoLayers()).value();
  std::map<std::string, uint64_t> owned;
  for (const Owner& owner : answer.owners)
    owned[std::string(OwnerKindKey(owner.kind)) + " " + owner.name] = owner.bytes;
  EXPECT_EQ(owned["module layers.0"], 1000u + 1000 + 500 + 1000) << "weight, momentum, activation, gradient";
  EXPECT_EQ(owned["module layers.1"], 2000u);
  EXPECT_EQ(owned["module_pattern layers.*"], 5500u);
  EXPECT_EQ(owned["module (model)"], 100u);
  EXPECT_EQ(owned["parameter layers.1.weight"], 2000u);
  EXPECT_EQ(owned["op aten::linear"], 500u);
}

TEST(ReportTest, TheStackBesideAnOwnerIsThatOfTheLargestShare) {
  Script s;
  const char* node = "torch::autograd::generated::BmmBackward0::apply(std::vector<at::Tensor>&&)";
  s.Stack({node, "at::cuda::getNewWorkspace()"}).Alloc("small", 10);
  s.Stack({node, "at::_ops::bmm::call", "at::detail::empty_cuda()"}).Alloc("large", 1000);
  const Answer answer = Ask(s).value();
  ASSERT_EQ(answer.owners.back().name, "BmmBackward0");
  EXPECT_EQ(answer.owners.back().bytes, 1010u);
  EXPECT_EQ(answer.owners.back().frames[1], "at::_ops::bmm::call");
}

TEST(ReportTest, MemoryThatTheProgramNamesHasAnOwner) {
  Script s;
  s.Alloc("cache", 1000).Label("cache", trace::Role::kNamed, trace::LabelSource::kAnnotation, "KV cache");
  const Answer answer = Ask(s).value();
  ASSERT_EQ(answer.owners.size(), 1u);
  EXPECT_EQ(answer.owners[0].kind, Owner::Kind::kName);
  EXPECT_EQ(answer.owners[0].name, "KV cache");
}

TEST(ReportTest, AMomentIsThePeakAStepATimeOrAMonotonicTime) {
  Script s = TwoLayers();
  s.trace().SetClock({0, 1'000'000});
  const Answer answer = Ask(s, At({"peak", "step:1", "10", "mono:1000010", "mono:3", "0"})).value();
  ASSERT_EQ(answer.moments.size(), 6u);
  EXPECT_EQ(answer.moments[0].allocated_bytes, answer.peak.allocated_bytes);
  EXPECT_EQ(answer.moments[1].allocated_bytes, answer.steps[0].peak.allocated_bytes);
  EXPECT_EQ(answer.moments[2].allocated_bytes, 1000u);
  EXPECT_EQ(answer.moments[2].time_ns, 10u);
  EXPECT_EQ(answer.moments[3].allocated_bytes, 1000u);
  EXPECT_EQ(answer.moments[3].monotonic_ns, 1'000'010u);
  EXPECT_EQ(answer.moments[4].time_ns, 0u) << "before the trace began";
  EXPECT_EQ(answer.moments[5].allocated_bytes, 1000u) << "an event at that very time has happened";
  for (const Moment& moment : answer.moments)
    EXPECT_EQ(classify::Sum(moment.categories), moment.allocated_bytes);
}

TEST(ReportTest, BlocksOfAMomentAddUpAndSayWhatTheyAre) {
  Request request = At({"peak"});
  request.blocks = true;
  const Answer answer = Ask(TwoLayers(), request).value();
  uint64_t sum = 0;
  for (const LiveBlock& block : answer.moments[0].blocks) sum += block.bytes;
  EXPECT_EQ(sum, answer.peak.allocated_bytes);
  const LiveBlock& first = answer.moments[0].blocks.front();
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.name, "layers.0.weight");
  EXPECT_EQ(first.category, Category::kParameter);
}

TEST(ReportTest, CudaComesBeforeALargerCpu) {
  Script s;
  s.Device(kCuda0).TotalsAre(0, 2048).Alloc("device", 100).Device(kCpuDevice).Alloc("host", 10'000);
  const Answer answer = Ask(s).value();
  EXPECT_EQ(answer.device, "cuda:0");
  EXPECT_EQ(answer.peak.reserved_bytes, 2048u);
  EXPECT_EQ(answer.devices[0].name, "cpu") << "the list goes by size";

  Request request;
  request.device = "cpu";
  EXPECT_EQ(Ask(s, request)->peak.allocated_bytes, 10'000u);
}

TEST(ReportTest, TheProcessWithTheLargestPeakIsShownUnlessAnotherIsNamed) {
  Script s;
  s.Process(100).Alloc("small", 10).Process(200).Alloc("large", 20);
  EXPECT_EQ(Ask(s)->pid, 200u);
  Request request;
  request.pid = 100;
  EXPECT_EQ(Ask(s, request)->peak.allocated_bytes, 10u);
}

TEST(ReportTest, TheCpuOfATrainingComesBeforeALargerDataWorker) {
  Script s;
  s.Process(100).Alloc("small", 10).Backward([&] { s.Alloc("gradient", 5); });
  s.Process(200, 100).Alloc("batches", 2000);
  EXPECT_EQ(Ask(s)->pid, 100u);
  s.Process(200).Device(kCuda0).Alloc("device", 1);
  EXPECT_EQ(Ask(s)->pid, 200u) << "a GPU comes before all";
}

TEST(ReportTest, ARangeOfStepsHasAPeakOfItsOwn) {
  Request request;
  request.steps = std::pair(1u, 1u);
  const Answer answer = Ask(TwoLayers(), request).value();
  EXPECT_EQ(answer.steps.size(), 1u);
  EXPECT_EQ(answer.peak.step, 1u);
  EXPECT_EQ(answer.peak.allocated_bytes, answer.steps[0].peak.allocated_bytes);
}

TEST(ReportTest, WhatDoesNotExistIsAnsweredWithWhatDoes) {
  Request request;
  request.device = "cuda:7";
  EXPECT_THAT(Ask(TwoLayers(), request).error().sentence, HasSubstr("it has cpu."));
  request = {};
  request.steps = std::pair(9u, 9u);
  EXPECT_THAT(Ask(TwoLayers(), request).error().sentence, HasSubstr("it has steps 1 to 3"));
  EXPECT_THAT(Ask(TwoLayers(), At({"step:4"})).error().sentence, HasSubstr("no step 4"));
}

TEST(ReportTest, ARunWithoutAllocationsHasAnAnswerToo) {
  Script s;
  s.Mark(trace::MarkKind::kUser);
  const Answer answer = Ask(s, At({"5"})).value();
  EXPECT_TRUE(answer.device.empty());
  EXPECT_EQ(answer.peak.allocated_bytes, 0u);
  EXPECT_EQ(answer.moments.size(), 1u);
}

TEST(ReportTest, LossesAndOutOfMemoryAreSaid) {
  Script s;
  s.Alloc("x", 8).SavedOutput("x").Lost(12);
  s.Event(trace::EventType::kOutOfMemory, {1 << 20, 8, 8, kCpuDevice, 0});
  const Answer answer = Ask(s).value();
  EXPECT_EQ(answer.dropped_events, 12u);
  EXPECT_THAT(answer.notes, ::testing::Contains(HasSubstr("12 events were lost")));
  ASSERT_EQ(answer.out_of_memory.size(), 1u);
  EXPECT_EQ(answer.out_of_memory[0].requested_bytes, 1u << 20);
  EXPECT_EQ(answer.out_of_memory[0].step, 1u);
  EXPECT_EQ(answer.out_of_memory[0].phase, timeline::Phase::kForward);
}

TEST(ReportTest, OfManyFailuresTheJsonListsAThousand) {
  Script s;
  s.Alloc("x", 8).SavedOutput("x");
  for (int i = 0; i < 1500; ++i) s.Event(trace::EventType::kOutOfMemory, {1 << 20, 8, 8, kCpuDevice, 0});
  const auto document = nlohmann::json::parse(ToJson(Ask(s).value()));
  EXPECT_EQ(document["out_of_memory"].size(), 1000u);
  EXPECT_EQ(document["out_of_memory_count"], 1500);
}

TEST(ReportTest, ReservedAtThePeakAndTheMostReservedAreTwoFigures) {
  Script s;
  s.Device(kCuda0);
  s.TotalsAre(0, 600).Alloc("weight", 400).TotalsAre(0, 900).Free("weight").Alloc("small", 100);
  const Answer answer = Ask(s).value();
  EXPECT_EQ(answer.peak.allocated_bytes, 400u);
  EXPECT_EQ(answer.peak.reserved_bytes, 600u);
  EXPECT_EQ(answer.peak.reserved_peak_bytes, 900u);
  const auto json = nlohmann::json::parse(ToJson(answer));
  EXPECT_EQ(json["peak"]["reserved_bytes"], 600);
  EXPECT_EQ(json["peak"]["reserved_peak_bytes"], 900);
}

TEST(ReportTest, NothingIsReservedBeforeTheFirstSegmentIfAllSegmentsWereRecorded) {
  using model::testing::kMiB;
  for (const uint64_t reserved : {2 * kMiB, 4 * kMiB}) {  // the second: some are from before the recording
    model::testing::DriverScript s;
    s.At(10).Context(kMiB).At(20).Take("libc10_cuda.so", 0x100000, 2 * kMiB).At(30).Device(kCuda0);
    s.TotalsAre(0, reserved).Alloc("weight", 512);
    std::vector<std::optional<uint64_t>> found;
    const Result<Answer> answer = Ask(s, At({"5", "15", "25", "35"}));
    for (const Moment& moment : answer->moments) found.push_back(moment.reserved_bytes);
    const std::optional<uint64_t> nothing = reserved == 2 * kMiB ? std::optional<uint64_t>(0) : std::nullopt;
    const std::optional<uint64_t> segment = nothing ? std::optional(2 * kMiB) : std::nullopt;
    EXPECT_THAT(found, testing::ElementsAre(nothing, nothing, segment, std::optional(reserved)));
  }
}

TEST(ReportJsonTest, TheKeysThatScriptsRelyOnAreThere) {
  Request request = At({"peak"});
  request.blocks = true;
  const auto json = nlohmann::json::parse(ToJson(Ask(TwoLayers(), request).value()));
  EXPECT_EQ(json["schema_version"], 1);
  const auto& peak = json["peak"];
  for (const char* key :
       {"allocated_bytes", "reserved_bytes", "device_used_bytes", "time_ns", "step", "phase", "categories"}) {
    EXPECT_TRUE(peak.contains(key)) << key;
  }
  EXPECT_TRUE(peak["reserved_bytes"].is_null());
  EXPECT_EQ(peak["categories"].size(), classify::kCategoryCount);
  uint64_t sum = 0;
  for (const auto& [key, bytes] : peak["categories"].items()) sum += bytes.get<uint64_t>();
  EXPECT_EQ(sum, peak["allocated_bytes"].get<uint64_t>());
  for (const char* key :
       {"steps", "devices", "coverage", "owners", "moments", "dropped_events", "processes"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const auto& block = json["moments"][0]["blocks"][0];
  for (const char* key : {"address", "bytes", "category", "name", "device", "process"})
    EXPECT_TRUE(block.contains(key)) << key;
}

void CollectKeys(const nlohmann::json& json, std::set<std::string>& keys) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) keys.insert(key);
  }
  if (json.is_structured()) {
    for (const auto& value : json) CollectKeys(value, keys);
  }
}

TEST(ReportJsonTest, EveryKeyIsDescribedInTheDocumentation) {
  std::ifstream file(VRAMSCOPE_SOURCE_DIR "/docs/json.md");
  const std::string document((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(document.empty());
  Script s = TwoLayers();
  s.Stack({"train.py:1 main", "train.py:9 step"})
      .Alloc("x", 9'000)
      .Coverage("hook", trace::CoverageState::kProven);
  s.Event(trace::EventType::kOutOfMemory, {1 << 20, 8, 8, kCpuDevice, 0});
  Request request = At({"peak"});
  request.blocks = true;
  std::set<std::string> keys;
  CollectKeys(nlohmann::json::parse(ToJson(Ask(s, request).value())), keys);
  EXPECT_GT(keys.size(), 80u);
  for (const std::string& key : keys) EXPECT_THAT(document, HasSubstr("`" + key + "`"));
  for (size_t i = 0; i < classify::kProofCount; ++i) {
    EXPECT_THAT(document, HasSubstr(classify::ProofKey(static_cast<classify::Proof>(i))));
  }
}

TEST(ReportJsonTest, TheSameTraceGivesTheSameText) {
  EXPECT_EQ(ToJson(Ask(TwoLayers()).value()), ToJson(Ask(TwoLayers()).value()));
}

TEST(ReportJsonTest, HostileNamesStayText) {
  Script s;
  s.Alloc("w", 8).Parameter("w", "a\"b\\\n\x1b[31m</script>\xff.weight");
  const auto json = nlohmann::json::parse(ToJson(Ask(s).value()));
  EXPECT_EQ(json["owners"][0]["name"], "a\"b\\\n\x1b[31m</script>\xef\xbf\xbd");
}

TEST(RequestTest, MomentsAndRangesAreReadOrRefusedWithASentence) {
  EXPECT_EQ(ParseMoment("step:12")->value, 12u);
  EXPECT_EQ(ParseMoment("mono:5")->kind, MomentSpec::Kind::kMonotonic);
  for (const char* bad : {"", "step:", "step:x", "-1", "1.5", "mono:1s", "99999999999999999999999"}) {
    EXPECT_THAT(ParseMoment(bad).error().sentence, HasSubstr("is not a moment")) << bad;
  }
  EXPECT_EQ(*ParseStepRange("3"), std::pair(3u, 3u));
  EXPECT_EQ(*ParseStepRange("2:5"), std::pair(2u, 5u));
  for (const char* bad : {"", ":", "0:2", "5:2", "a:b", "1:2:3"}) {
    EXPECT_THAT(ParseStepRange(bad).error().sentence, HasSubstr("is not a range")) << bad;
  }
}

TEST(ReportTest, ASettingIsNamedForEachKindOfCommunication) {
  Script s = TwoLayers();
  s.Alloc("bucket", 4000)
      .Label("bucket", trace::Role::kCommunication, trace::LabelSource::kDataParallel,
             "bucket of DistributedDataParallel");
  s.Alloc("gathered", 8000)
      .Label("gathered", trace::Role::kCommunication, trace::LabelSource::kDataParallel,
             "gathered copy of layers.0.weight");
  const Answer answer = *Ask(s);
  ASSERT_GE(answer.notes.size(), 2u);
  EXPECT_THAT(answer.notes[0],
              ::testing::AllOf(HasSubstr("8000 bytes in gathered"), HasSubstr("reshard_after_forward")));
  EXPECT_THAT(answer.notes[1],
              ::testing::AllOf(HasSubstr("4000 bytes in buckets"), HasSubstr("bucket_cap_mb")));
}

}  // namespace
}  // namespace vramscope::report
