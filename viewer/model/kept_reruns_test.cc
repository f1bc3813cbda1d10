// SPDX-License-Identifier: Apache-2.0
// Oracle: the loops that stand for the re-runs, queried directly.
#include "viewer/model/kept_reruns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "profiler/model/testing/trace_bytes.h"
#include "profiler/timeline/curve.h"
#include "profiler/whatif/testing/block_loop.h"
#include "viewer/model/whatif_view.h"

namespace vramscope::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using whatif::BlockLoop;

constexpr char kBf16[] = "amp=bf16 @ gpu=rtx-4090 world=1";
constexpr char kFp16[] = "amp=fp16 @ gpu=rtx-4090 world=1";
constexpr char kUnchanged[] = "@ gpu=rtx-4090 world=1";

// A recorded loop on disk, and a smaller one as its re-run in bf16.
class KeptRerunsTest : public ::testing::Test {
 protected:
  static std::vector<whatif::BlockShape> Blocks(uint64_t features) {
    return {{features}, {features}, {features}};
  }
  void SetUp() override {
    path_ = ::testing::TempDir() + "/kept." + std::to_string(getpid()) + ".vms";
    Store("rtx-4090");
  }
  void TearDown() override { std::filesystem::remove(path_); }
  void Store(const char* gpu) {
    recorded_.trace().SetMetadata("simulated.gpu", gpu);
    const trace::Bytes whole = model::testing::TraceBytes(*recorded_.run().source);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(whole.data()), static_cast<std::streamsize>(whole.size()));
  }
  void Keep(const char* key, const BlockLoop& loop) const {
    const auto source = model::MakeSource(std::move(trace::TraceReader::Open(path_)).value());
    const trace::Bytes bytes = model::testing::TraceBytes(*loop.run().source);
    ASSERT_TRUE(experiment::KeepVariant(*source, path_, key, bytes).ok());
  }
  [[nodiscard]] std::unique_ptr<Document> Open() const {
    return MakeDocument(path_, model::LoadFile(path_).value(), nullptr);
  }
  // The state that scripts see, once every answer has arrived.
  static std::string Answered(WhatIfView& view, const Document& document) {
    do {
      view.Update(document, *document.devices[0], [] {});
      std::this_thread::yield();
    } while (view.busy());
    return view.ToJson();
  }

  std::string path_;
  BlockLoop recorded_{Blocks(1 << 21)};
  BlockLoop smaller_{Blocks(1 << 18)};
};

TEST_F(KeptRerunsTest, WhatWasKeptComesBeforeTheUsualThatWasNot) {
  Keep(kBf16, smaller_);
  Keep("attention=math @ gpu=a100-40gb world=1", smaller_);
  Keep(kUnchanged, recorded_);
  std::vector<std::string> lines;
  for (const RerunChoice& choice : KeptReruns::Again(path_)->Choices())
    lines.push_back(choice.title + (choice.kept ? "" : " ?"));
  EXPECT_THAT(lines, ElementsAre("--amp bf16", "--attention math on a100-40gb", "--amp fp16 ?",
                                 "--precision bf16 ?", "--batch 0.5x ?"));
}

TEST_F(KeptRerunsTest, ARerunAnswersAndTakesFurtherChanges) {
  Keep(kBf16, smaller_);
  Keep(kUnchanged, recorded_);
  const auto document = Open();
  const auto subject = MakeWhatIfSubject(*document, *document->devices[0]);
  ASSERT_TRUE(subject.ok());
  WhatIfQuestion question{.rerun = kBf16};
  const auto alone = AnswerTo(question, *subject, subject->reruns, path_);
  ASSERT_TRUE(alone.ok() && !alone->not_kept);
  const timeline::DeviceCurve curve(smaller_.run(), 0);
  EXPECT_EQ(alone->kind, experiment::AnswerKind::kRerun);
  EXPECT_EQ(alone->prediction.after.allocator.allocated_peak, curve.peak().bytes);
  EXPECT_EQ(alone->prediction.after.allocator.reserved_peak, curve.peak_reserved().value());
  EXPECT_EQ(alone->command, "vramscope whatif " + path_ + " --amp bf16");
  EXPECT_TRUE(alone->notes.empty());
  EXPECT_FALSE(alone->after.points.empty());

  question.checkpoints = {"blocks.1"};
  const auto both = AnswerTo(question, *subject, subject->reruns, path_);
  ASSERT_TRUE(both.ok());
  const auto wanted = whatif::Predict(smaller_.step(), smaller_.baseline(), {{"checkpoint", "blocks.1"}});
  EXPECT_EQ(both->kind, experiment::AnswerKind::kTransformed);
  EXPECT_EQ(both->rerun_levers, 1u);
  EXPECT_EQ(both->prediction.after.allocator.allocated_peak, wanted->after.allocator.allocated_peak);
  EXPECT_EQ(both->prediction.after.allocator.reserved_peak, wanted->after.allocator.reserved_peak);
  EXPECT_LT(both->prediction.after.allocator.allocated_peak, curve.peak().bytes);
  EXPECT_EQ(both->command, "vramscope whatif " + path_ + " --amp bf16 --checkpoint blocks.1");
}

TEST_F(KeptRerunsTest, OneThatWasNotRunIsNamedWithItsCommandUntilTheFileHasIt) {
  const auto document = Open();
  WhatIfView view;
  view.question.rerun = kFp16;
  const std::string state = Answered(view, *document);
  ASSERT_TRUE(view.answer() && view.answer()->ok() && view.answer()->value().not_kept) << state;
  // The trace contains no program, so the command runs the loop itself.
  EXPECT_THAT(view.answer()->value().not_kept->command,
              HasSubstr("vramscope try --dry --gpu rtx-4090 --amp fp16"));
  EXPECT_THAT(view.answer()->value().not_kept->sentence, HasSubstr("no program"));
  Keep(kFp16, smaller_);
  view.LookAgain();
  Answered(view, *document);
  ASSERT_FALSE(view.answer()->value().not_kept);
  EXPECT_EQ(view.answer()->value().kind, experiment::AnswerKind::kRerun);
  EXPECT_EQ(&view.modules(), &view.answer()->value().rerun->modules);
  EXPECT_TRUE(view.reruns()->Choices().front().kept);
  EXPECT_THAT(view.answer()->value().notes,
              ElementsAre(HasSubstr("no re-run of the unchanged program exists")));
  view.question.rerun.clear();
  Answered(view, *document);
  EXPECT_EQ(view.answer()->value().kind, experiment::AnswerKind::kRecorded);
  EXPECT_EQ(&view.modules(), &view.subject()->value().modules);
}

TEST_F(KeptRerunsTest, OfARealGpuTheCommandNamesTheSimulatedOne) {
  recorded_.trace().SetMetadata("simulated.gpu", "");
  Store("");
  Keep("amp=bf16 @ gpu=h100 world=1", smaller_);
  const auto document = Open();
  const auto subject = MakeWhatIfSubject(*document, *document->devices[0]);
  ASSERT_TRUE(subject.ok());
  // A choice that was made before anything was run also finds it.
  const std::string before = "amp=bf16 @ gpu= world=1";
  const auto answer = AnswerTo({.rerun = before}, *subject, subject->reruns, path_);
  ASSERT_TRUE(answer.ok() && !answer->not_kept);
  EXPECT_EQ(answer->command, "vramscope whatif " + path_ + " --amp bf16 --gpu h100");
  EXPECT_EQ(answer->gpu, "h100");
}

TEST_F(KeptRerunsTest, AKeptRerunThatCannotBeReadIsASentence) {
  Keep(kUnchanged, recorded_);
  const auto source = model::MakeSource(std::move(trace::TraceReader::Open(path_)).value());
  ASSERT_TRUE(experiment::KeepVariant(*source, path_, kBf16, trace::Bytes(99)).ok());
  const auto reruns = KeptReruns::Again(path_);
  const auto loaded = reruns->Get(*reruns->Find(kBf16));
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().sentence, HasSubstr("--amp bf16"));
}

// The keys of the plans that a search for this many bytes finds among re-runs.
std::vector<std::string> RerunPlans(const WhatIfSubject& subject,
                                    const std::shared_ptr<const KeptReruns>& reruns, uint64_t limit) {
  FitView fit;
  fit.into = std::to_string(limit) + "B";
  fit.Start(subject, reruns, [] {});
  while (fit.busy()) fit.Update();
  std::vector<std::string> keys;
  for (const WhatIfQuestion& question : fit.answer()->value().questions)
    if (!question.rerun.empty()) keys.push_back(question.rerun);
  return keys;
}

TEST_F(KeptRerunsTest, PlansAreMadeOfWhatWasKeptAndOfNothingElse) {
  const auto document = Open();
  const auto subject = MakeWhatIfSubject(*document, *document->devices[0]);
  ASSERT_TRUE(subject.ok());
  Keep(kBf16, smaller_);
  const auto kept = KeptReruns::Again(path_);
  const auto bf16 = AnswerTo({.rerun = kBf16}, *subject, kept, path_);
  ASSERT_TRUE(bf16.ok() && !bf16->not_kept);
  const whatif::Prediction& prediction = bf16->prediction;
  const uint64_t limit = prediction.band.ReservedAtMost(prediction.after.allocator.reserved_peak);
  EXPECT_THAT(RerunPlans(*subject, subject->reruns, limit), ElementsAre());
  EXPECT_THAT(RerunPlans(*subject, kept, limit), ElementsAre(kBf16));
}

}  // namespace
}  // namespace vramscope::viewer
