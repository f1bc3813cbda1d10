// SPDX-License-Identifier: Apache-2.0
// Oracle: the device's own curve.
#include "viewer/model/line_bands.h"

#include <gtest/gtest.h>

#include <future>
#include <numeric>
#include <random>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

TEST(LineBandsTest, BandsSumToWhatIsAllocatedAfterEveryEvent) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  model::testing::Script s;
  std::vector<std::string> live;
  for (int i = 0; i < 400; ++i) {
    if (!live.empty() && random() % 3 == 0) {
      std::swap(live[random() % live.size()], live.back());
      s.Free(live.back());
      live.pop_back();
      continue;
    }
    const uint64_t line = random() % 12;
    if (line == 0)
      s.Stack({});
    else
      s.Stack({"main (/src/train.py:" + std::to_string(line) + ")"});
    live.push_back("b" + std::to_string(i));
    s.Alloc(live.back(), 512 * (1 + random() % 100));
  }
  const auto document = MakeDocument("run.vms", s.Load(), nullptr);
  const DeviceView& device = *document->devices[0];
  const LineBands bands(*document, device);
  for (model::EventIndex event = 0; event < document->run->event_count(); ++event) {
    const uint64_t allocated = device.curve.AllocatedAfter(event);
    const LineBands::Bytes bytes = bands.After(event, allocated);
    ASSERT_EQ(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}), allocated);
  }
  EXPECT_TRUE(LinesTellMore(*document, device)) << "nothing has a category, most has a stack";
}

TEST(LineBandsTest, TheLineThatHoldsTheMostBytesIsTheLowestBand) {
  model::testing::Script s;
  s.Stack({"small (/src/a.py:1)"}).Alloc("a", 1024);
  s.Stack({"large (/src/b.py:2)"}).Alloc("b", 8192);
  s.Stack({}).Alloc("c", 512);
  const auto document = MakeDocument("run.vms", s.Load(), nullptr);
  const LineBands bands(*document, *document->devices[0]);
  EXPECT_EQ(bands.bands()[0].text, "large (/src/b.py:2)");
  EXPECT_EQ(bands.bands()[1].text, "small (/src/a.py:1)");
  EXPECT_EQ(bands.bands()[2].text, "") << "there are two lines";
  const LineBands::Bytes bytes = bands.After(document->run->event_count() - 1, 1024 + 8192 + 512);
  EXPECT_EQ(bytes[0], 8192u);
  EXPECT_EQ(bytes[LineBands::kCount - 1], 512u);
}

TEST(LineBandsTest, AGrownFileShowsTheOldBandsUntilThereAreNewOnes) {
  const auto load = [](const std::string& line) {
    model::testing::Script s;
    s.Stack({line}).Alloc("a", 1024);
    return MakeDocument("run.vms", s.Load(), nullptr);
  };
  const auto before = load("f (/src/a.py:1)");
  const auto after = load("f (/src/b.py:2)");
  LineBandsView view;
  std::promise<void> woken;
  view.Update(*before, *before->devices[0], [&] { woken.set_value(); });
  woken.get_future().wait();
  while (view.busy()) view.Update(*before, *before->devices[0], [] {});
  ASSERT_TRUE(view.bands());
  view.Forget();
  EXPECT_EQ(view.bands()->bands()[0].text, "f (/src/a.py:1)");
  view.Update(*after, *after->devices[0], [] {});
  while (view.busy()) view.Update(*after, *after->devices[0], [] {});
  EXPECT_EQ(view.bands()->bands()[0].text, "f (/src/b.py:2)");
  view.Update(*before, *before->devices[0], [] {});  // another file: not its bands
  EXPECT_NE(view.bands() ? view.bands()->bands()[0].text : "", "f (/src/b.py:2)");
}

}  // namespace
}  // namespace vramscope::viewer
