// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/time_scale.h"

#include <gtest/gtest.h>

#include <random>

#include "viewer/model/time_view.h"

namespace vramscope::viewer {
namespace {

// Steps of 100, 1 and 2 s, of ten events each, after five events.
struct ThreeSteps {
  model::TimeIndex times;
  std::vector<timeline::Step> steps;
  ThreeSteps() {
    for (uint64_t i = 0; i < 5; ++i) times.Append(i * 1'000'000'000);
    uint64_t now = 10'000'000'000;
    for (const uint64_t seconds : {100, 1, 2}) {
      timeline::Step step;
      step.number = static_cast<uint32_t>(steps.size() + 1);
      step.begin = times.size();
      for (uint64_t i = 0; i < 10; ++i) times.Append(now + i * seconds * 100'000'000);
      step.end = times.size();
      steps.push_back(step);
      now += seconds * 1'000'000'000;
    }
    times.Append(now);
  }
  [[nodiscard]] TimeView View(std::shared_ptr<const TimeScale> scale) const {
    TimeView view(static_cast<double>(times.last_ns()));
    view.SetScale(std::move(scale));
    return view;
  }
};

TEST(TimeScaleTest, TimesSurviveTheWayThereAndBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const ThreeSteps run;
  for (const auto& scale : {TimeScale::OfEvents(run.times), TimeScale::OfSteps(run.times, run.steps)}) {
    TimeView view = run.View(scale);
    for (int i = 0; i < 200; ++i) {
      const double ns = std::uniform_real_distribution<double>(0, view.whole())(random);
      EXPECT_NEAR(view.TimeAt(view.PlaceOf(ns)), ns, 1e-3 * view.whole());
      EXPECT_LE(view.PlaceOf(ns), view.PlaceOf(ns + 1e8));
      view.Zoom(random() % 2 == 0 ? 1.5 : 0.7, ns);
      EXPECT_GE(view.begin(), 0);
      EXPECT_LE(view.end(), view.whole());
      view.PanBy(std::uniform_real_distribution<double>(-0.5, 0.5)(random));
    }
    for (int i = 0; i < 40; ++i) view.Zoom(0.5, 0);
    EXPECT_TRUE(view.all());
  }
}

TEST(TimeScaleTest, EventsHaveOneWidthEach) {
  const ThreeSteps run;
  const TimeView view = run.View(TimeScale::OfEvents(run.times));
  EXPECT_EQ(view.axis(), TimeAxis::kEvent);
  const auto place = [&](model::EventIndex event) {
    return view.PlaceOf(static_cast<double>(run.times.TimeOf(event)));
  };
  for (model::EventIndex event = 1; event < run.times.size(); ++event)
    EXPECT_NEAR(place(event) - place(event - 1), place(1) - place(0), 1e-9);
  EXPECT_EQ(TimeTicks(view, 40).at(3).text, "event 3");
}

TEST(TimeScaleTest, StepsHaveOneWidthEach) {
  const ThreeSteps run;
  const TimeView view = run.View(TimeScale::OfSteps(run.times, run.steps));
  EXPECT_EQ(view.axis(), TimeAxis::kStep);
  const auto begin = [&](size_t step) {
    return view.PlaceOf(static_cast<double>(run.times.TimeOf(run.steps[step].begin)));
  };
  EXPECT_NEAR(begin(1) - begin(0), begin(2) - begin(1), 1e-9) << "of 100 s and of 1 s";
  const auto ticks = TimeTicks(view, 10);
  ASSERT_EQ(ticks.size(), 3u);
  EXPECT_EQ(ticks[1].text, "step 2");
  EXPECT_EQ(TimeScale::OfSteps(run.times, {}), nullptr);
}

}  // namespace
}  // namespace vramscope::viewer
