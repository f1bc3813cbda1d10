// SPDX-License-Identifier: Apache-2.0
// Oracle: each test makes two runs that differ by one known change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/diff/compare.h"
#include "profiler/model/testing/script.h"
#include "profiler/report/build.h"

namespace vramscope::diff {
namespace {

using model::testing::Script;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Program {
  int layers = 2;
  uint64_t batch = 64;
  std::string optimizer = "SGD";
  uint64_t element = 4;   // bytes of a parameter's element
  double activation = 2;  // bytes of a layer's activation, as a multiple of the batch
};

Script Train(const Program& program) {
  Script s;
  const uint64_t weight = 100 * program.element;
  const auto kept = static_cast<uint64_t>(program.activation * static_cast<double>(program.batch));
  const auto layer = [](int number) { return "blocks." + std::to_string(number); };
  for (int i = 0; i < program.layers; ++i)
    s.Alloc(layer(i), weight).Parameter(layer(i), layer(i) + ".weight");
  for (int step = 1; step <= 2; ++step) {
    const std::string batch = "batch" + std::to_string(step);
    s.Data([&] { s.Alloc(batch, program.batch); });
    s.Label(batch, trace::Role::kInput, trace::LabelSource::kDataLoader);
    for (int i = 0; i < program.layers; ++i) {
      s.Module(layer(i), [&] { s.Alloc("act" + layer(i), kept).Saved("act" + layer(i)); });
    }
    s.Backward([&] {
      for (int i = 0; i < program.layers; ++i) {
        if (step == 1) s.Alloc("grad" + layer(i), weight).Gradient("grad" + layer(i), layer(i));
      }
    });
    s.Optimizer(program.optimizer, [&] {
      for (int i = 0; step == 1 && program.optimizer == "Adam" && i < program.layers; ++i) {
        for (const std::string key : {"exp_avg", "exp_avg_sq"}) {
          s.Alloc(key + layer(i), weight);
          s.Label(key + layer(i), trace::Role::kOptimizerState, trace::LabelSource::kOptimizer,
                  key + " of " + layer(i) + ".weight");
        }
      }
    });
    for (int i = 0; i < program.layers; ++i) s.Released("act" + layer(i)).Free("act" + layer(i));
    s.Free(batch);
  }
  return s;
}

Side SideOf(const Program& program) {
  const Script script = Train(program);
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  return *diff::SideOf("run.vms", analysis, {});
}

int64_t ChangeOf(const Diff& diff, const std::string& category) {
  for (const Row& row : diff.categories) {
    if (row.name == category) return row.change();
  }
  return 0;
}

TEST(DiffTest, ARunDoesNotDifferFromItself) {
  const Side side = SideOf({});
  const Diff diff = Compare(side, side);
  EXPECT_EQ(diff.peak.change(), 0);
  EXPECT_TRUE(diff.causes.empty());
  EXPECT_TRUE(diff.owners.empty());
}

TEST(DiffTest, ALayerMoreIsNamedWithAllThatItHolds) {
  const Diff diff = Compare(SideOf({}), SideOf({.layers = 3}));
  ASSERT_EQ(diff.causes.size(), 1u);
  EXPECT_EQ(diff.causes[0].what, "1 more module: blocks.2 (1 parameter)");
  EXPECT_EQ(diff.causes[0].bytes, diff.peak.change());
  EXPECT_EQ(diff.peak.change(), 400 + 400 + 128) << "parameter, gradient, activation";
}

TEST(DiffTest, AndALayerLess) {
  const Diff diff = Compare(SideOf({.layers = 3}), SideOf({}));
  ASSERT_EQ(diff.causes.size(), 1u);
  EXPECT_EQ(diff.causes[0].what, "1 fewer module: blocks.2 (1 parameter)");
  EXPECT_EQ(diff.causes[0].bytes, diff.peak.change());
}

TEST(DiffTest, AnotherOptimizerIsNamedWithItsState) {
  const Diff diff = Compare(SideOf({}), SideOf({.optimizer = "Adam"}));
  ASSERT_EQ(diff.causes.size(), 1u);
  EXPECT_EQ(diff.causes[0].what, "Optimizer SGD -> Adam (state: none -> exp_avg, exp_avg_sq)");
  EXPECT_EQ(diff.causes[0].bytes, 2 * 2 * 400);
  EXPECT_EQ(ChangeOf(diff, "optimizer_state"), 2 * 2 * 400);
}

TEST(DiffTest, ALargerBatchIsNamedWithWhatIsMadeOfIt) {
  const Diff diff = Compare(SideOf({}), SideOf({.batch = 128}));
  ASSERT_EQ(diff.causes.size(), 1u);
  EXPECT_THAT(diff.causes[0].what, HasSubstr("2.00 times"));
  EXPECT_EQ(diff.causes[0].bytes, 64 + 2 * 128);
}

// 20 predictions after the training, which stay on the device or move to the host.
Script Evaluated(bool keeps, uint64_t bytes = 1 << 20) {
  Script s = Train({});
  for (int i = 0; i < 20; ++i) {
    const std::string prediction = "prediction" + std::to_string(i);
    s.Stack({"<module> (/src/eval.py:3)", "forward (/venv/lib/python3.11/site-packages/torch/nn/x.py:7)"});
    s.Alloc(prediction, bytes);
    if (!keeps) s.Free(prediction);
  }
  return s;
}

TEST(DiffTest, PredictionsThatAreNotKeptAnyMoreAreNamedAndNoBatch) {
  const auto side = [](const Script& script) {
    const model::Run run = script.Load();
    const classify::Analysis analysis(run);
    return *diff::SideOf("run.vms", analysis, {});
  };
  const Diff diff = Compare(side(Evaluated(true)), side(Evaluated(false)));
  ASSERT_EQ(diff.causes.size(), 1u);
  EXPECT_EQ(diff.causes[0].what,
            "19 tensors of 1.0 MiB, made outside of the training steps at <module> (/src/eval.py:3), are not "
            "kept any more");
  EXPECT_EQ(diff.causes[0].bytes, diff.peak.change());
}

// `side`, with `host` MiB of resident and `pinned` MiB of pinned memory.
Side With(Side side, uint64_t host, uint64_t pinned = 0) {
  side.facts.host_bytes = host << 20;
  side.facts.pinned_bytes = pinned << 20;
  return side;
}

Side SideOfScript(const Script& script) {
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  return *diff::SideOf("run.vms", analysis, {});
}

std::string OneCause(const Side& before, const Side& after) {
  const Diff diff = Compare(before, after);
  if (diff.causes.size() != 1) return std::to_string(diff.causes.size()) + " causes";
  EXPECT_EQ(diff.causes[0].bytes, diff.peak.change());
  return diff.causes[0].what;
}

TEST(DiffTest, PredictionsThatTheHostTookOverGoToTheHost) {
  const Side keeps = SideOfScript(Evaluated(true, 4 << 20)), frees = SideOfScript(Evaluated(false, 4 << 20));
  EXPECT_THAT(OneCause(With(keeps, 400), With(frees, 478)),
              EndsWith("not kept any more; they go to the host"));
  EXPECT_THAT(OneCause(With(frees, 478), With(keeps, 400)),
              EndsWith("kept now; they went to the host before"));
  EXPECT_THAT(OneCause(With(keeps, 400), With(frees, 410)), EndsWith("not kept any more"));
  EXPECT_THAT(OneCause(With(keeps, 400), With(frees, 800)), EndsWith("not kept any more"))
      << "something else";
}

TEST(DiffTest, StateThatTheHostTookOverIsNoOtherOptimizer) {
  const Side device = SideOf({.optimizer = "Adam", .element = 160'000});
  Side host = SideOf({.optimizer = "SGD", .element = 160'000});
  host.facts.optimizers = device.facts.optimizers;
  EXPECT_EQ(device.facts.state_bytes, 4u * 100 * 160'000);
  EXPECT_EQ(OneCause(With(device, 400), With(host, 461)), "Optimizer state goes to the host");
  EXPECT_EQ(OneCause(With(device, 400, 8), With(host, 402, 8 + 128)), "Optimizer state goes to the host");
  EXPECT_EQ(OneCause(With(host, 461), With(device, 400)),
            "Optimizer state stays on the device, no longer on the host");
  EXPECT_THAT(OneCause(With(device, 400), With(host, 402)), HasSubstr("with other state"));
}

TEST(DiffTest, ActivationsGoToTheHostWhereTrySaysSoOrTheHostTookThemOver) {
  const Side plain = SideOf({.batch = 20 << 20});
  Side offloaded = SideOfScript(Train({.batch = 20 << 20, .activation = 0.125}));
  const std::string words = "What autograd keeps for backward goes to the host";
  EXPECT_EQ(OneCause(With(plain, 400), With(offloaded, 475)), words);
  EXPECT_EQ(OneCause(With(plain, 400), With(offloaded, 401)), "0 causes");
  offloaded.facts.tried = "--offload activations --empty-cache after-step";
  EXPECT_EQ(OneCause(plain, offloaded), words);
  offloaded.facts.tried = "--attention flash";
  EXPECT_EQ(OneCause(plain, offloaded), "vramscope try changed nothing -> --attention flash");
}

TEST(DiffTest, OwnersThatOneSideDoesNotKnowAreNotGone) {
  Side plain = SideOf({});
  plain.facts.knows_operators = false;
  Side deep = plain;
  report::Owner op;
  op.kind = report::Owner::Kind::kOp;
  op.name = "aten::mm";
  op.bytes = 64;
  deep.answer.owners.push_back(op);
  deep.facts.knows_operators = true;
  deep.path = "deep.vms";
  for (const Diff& diff : {Compare(plain, deep), Compare(deep, plain)}) {
    EXPECT_TRUE(diff.owners.empty());
    ASSERT_EQ(diff.notes.size(), 1u);
    EXPECT_THAT(diff.notes[0], StartsWith("run.vms: no deep step was recorded"));
  }
  EXPECT_TRUE(Compare(deep, deep).notes.empty());
}

TEST(DiffTest, WhatASnapshotDoesNotKnowIsNoCause) {
  Side snapshot = SideOf({});
  snapshot.facts.knows_program = false;
  snapshot.facts.optimizers.clear();
  const Side trace = SideOf({.layers = 3, .optimizer = "Adam"});
  for (const Diff& diff : {Compare(snapshot, trace), Compare(trace, snapshot)}) {
    EXPECT_TRUE(diff.causes.empty());
    ASSERT_EQ(diff.notes.size(), 1u);
    EXPECT_THAT(diff.notes[0], StartsWith("run.vms: a snapshot does not record what a block is for"));
  }
  Side on_host = trace, on_gpu = trace;
  on_host.answer.device = "cpu";
  on_gpu.answer.device = "cuda:0";
  EXPECT_THAT(Compare(on_host, on_gpu).notes,
              ::testing::ElementsAre(::testing::HasSubstr("allocators differ")));
}

TEST(DiffTest, ParametersOfHalfTheSizeAreAnotherType) {
  const Diff diff = Compare(SideOf({}), SideOf({.element = 2}));
  ASSERT_EQ(diff.causes.size(), 1u);
  EXPECT_THAT(diff.causes[0].what, StartsWith("Parameters of half the size"));
  EXPECT_EQ(diff.causes[0].bytes, -2 * (200 + 200));
}

TEST(DiffTest, TwoChangesShareWhatDiffers) {
  const Diff diff = Compare(SideOf({}), SideOf({.layers = 3, .optimizer = "Adam"}));
  ASSERT_EQ(diff.causes.size(), 2u);
  EXPECT_EQ(diff.causes[0].bytes + diff.causes[1].bytes, diff.peak.change());
}

TEST(DiffTest, TheJsonFormHasTheSameNumbers) {
  const Side before = SideOf({}), after = SideOf({.batch = 128});
  const Diff diff = Compare(before, after);
  const auto json = nlohmann::json::parse(ToJson(before, after, diff));
  EXPECT_EQ(json["change_bytes"], diff.peak.change());
  EXPECT_EQ(json["causes"][0]["kind"], "batch");
  EXPECT_EQ(json["steps"].size(), 2u);
  int64_t sum = 0;
  for (const auto& row : json["categories"]) sum += row["change_bytes"].get<int64_t>();
  EXPECT_EQ(sum, diff.peak.change()) << "the categories add up";
}

}  // namespace
}  // namespace vramscope::diff
