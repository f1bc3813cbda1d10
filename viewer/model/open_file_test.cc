// SPDX-License-Identifier: Apache-2.0
// Oracle: the same file, opened after it was complete.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "profiler/model/testing/training_loop.h"
#include "viewer/model/session.h"

namespace vramscope::viewer {
namespace {

class FollowTest : public testing::Test {
 protected:
  FollowTest() {
    std::string name = testing::TempDir() + "/follow.XXXXXX";
    close(mkstemp(name.data()));
    path_ = name;
    model::testing::TrainingShape shape;
    shape.events = 20'000;
    shape.layers = 3;
    trace::TraceWriter::Options options;
    options.events_per_block = 1000;
    auto writer =
        trace::TraceWriter::Create(trace::CreateFileSink(path_).value(), trace::TraceClock(), options)
            .value();
    EXPECT_TRUE(model::testing::WriteTrainingTrace(shape, *writer).ok());
    EXPECT_TRUE(writer->Close().ok());
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  ~FollowTest() override { unlink(path_.c_str()); }

  void Write(size_t from, size_t to) const {
    std::ofstream file(path_, from == 0 ? std::ios::binary : std::ios::binary | std::ios::app);
    file.write(bytes_.data() + from, static_cast<std::streamsize>(to - from));
  }
  template <typename Done>
  static void UpdateUntil(Session& session, const Done& done) {
    while (!done()) {
      session.Update();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  std::string path_;
  std::string bytes_;
};

TEST_F(FollowTest, AFileThatGrowsIsReadAgainAndWhatIsSelectedStays) {
  Write(0, bytes_.size() / 2);
  Session session([] {});
  session.Open(path_);
  UpdateUntil(session, [&] { return !session.loading() && session.document() != nullptr; });
  const model::EventIndex early = session.document()->run->event_count();
  ASSERT_GT(early, 1000u);
  EXPECT_FALSE(session.file()->live());
  session.SelectBlock(123);
  session.SetMoment(early / 2);
  session.device()->series.Show(MaskOf(classify::Category::kActivation));
  session.place.window.Show(0, session.place.window.whole() / 3);
  session.Remember();
  const TimeView window = session.place.window;
  const double moment_ns = session.MomentTime();
  const uint64_t born = session.document()->run->blocks[123].alloc_event;

  Write(bytes_.size() / 2, bytes_.size() * 3 / 4);
  UpdateUntil(session, [&] { return session.document()->run->event_count() > early; });
  EXPECT_EQ(session.generation(), 1u);
  session.DropReplaced();
  EXPECT_TRUE(session.file()->live());
  EXPECT_EQ(session.place.moment, early / 2);
  EXPECT_EQ(session.MomentTime(), moment_ns);
  EXPECT_EQ(session.place.block, 123u);
  EXPECT_EQ(session.document()->run->blocks[123].alloc_event, born);
  EXPECT_EQ(session.place.window.end(), window.end());
  EXPECT_GT(session.place.window.whole(), window.whole());
  EXPECT_EQ(session.device()->series.shown(), MaskOf(classify::Category::kActivation));
  ASSERT_NE(session.layout(), nullptr);
  session.Back();
  EXPECT_GT(session.place.window.whole(), window.whole()) << "back leads to where all of the run can be seen";

  Write(bytes_.size() * 3 / 4, bytes_.size());
  UpdateUntil(session, [&] { return session.generation() == 2; });
  session.DropReplaced();
  EXPECT_FALSE(session.file()->live()) << "its writer has closed it";
  const auto whole = model::LoadFile(path_);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(session.document()->run->event_count(), whole->event_count());
  EXPECT_EQ(session.document()->run->blocks.size(), whole->blocks.size());
}

TEST_F(FollowTest, WhoLooksAtTheEndGoesOnWithIt) {
  Write(0, bytes_.size() / 2);
  Session session([] {});
  session.Open(path_);
  UpdateUntil(session, [&] { return !session.loading() && session.document() != nullptr; });
  TimeView& window = session.place.window;
  window.Show(window.whole() * 0.9, window.whole());
  const double width = window.width();
  session.SetMoment(session.document()->run->event_count() - 1);
  Write(bytes_.size() / 2, bytes_.size());
  UpdateUntil(session, [&] { return session.generation() == 1; });
  EXPECT_EQ(session.place.moment, session.document()->run->event_count() - 1);
  EXPECT_EQ(window.end(), window.whole());
  EXPECT_NEAR(window.width(), width, 1);
}

}  // namespace
}  // namespace vramscope::viewer
