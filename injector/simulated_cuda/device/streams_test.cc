// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/streams.h"

#include <gtest/gtest.h>

#include <thread>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {
namespace {

void Launch(Streams& streams, Stream* stream, int times = 1) {
  for (int i = 0; i < times; ++i) streams.Issue(stream, NodeType::kKernel);
}

TEST(StreamsTest, AnEventPassesWhenTheHostHasLaunchedAsMuchAsItIsAhead) {
  Streams streams(3);
  Stream* const stream = streams.Create(0, 0, 0);
  Event event;
  EXPECT_EQ(streams.QueryEvent(&event), kSuccess) << "never recorded";
  Launch(streams, stream);
  streams.Record(&event, stream);
  EXPECT_EQ(streams.QueryEvent(&event), kNotReady);
  Launch(streams, stream, 2);
  EXPECT_EQ(streams.QueryEvent(&event), kNotReady);
  Launch(streams, stream);
  EXPECT_EQ(streams.QueryEvent(&event), kSuccess);
}

TEST(StreamsTest, WithoutLagAllIsDoneAtOnce) {
  Streams streams(0);
  Stream* const stream = streams.Create(0, 0, 0);
  Event event;
  Launch(streams, stream);
  streams.Record(&event, stream);
  EXPECT_EQ(streams.QueryEvent(&event), kSuccess);
}

TEST(StreamsTest, WhoSynchronizesHasWaited) {
  Streams streams(100);
  Stream* const stream = streams.Create(0, 0, 0);
  Event event;
  Launch(streams, stream);
  streams.Record(&event, stream);
  EXPECT_EQ(streams.SynchronizeEvent(&event), kSuccess);
  EXPECT_EQ(streams.QueryEvent(&event), kSuccess);
  Launch(streams, stream);
  EXPECT_EQ(streams.Query(stream), kNotReady);
  streams.SynchronizeAll();
  EXPECT_EQ(streams.Query(stream), kSuccess);
}

TEST(StreamsTest, WhoOnlyAsksHasWaitedInTheEnd) {
  Streams streams(3);
  Stream* const stream = streams.Create(0, 0, 0);
  Event event;
  Launch(streams, stream);
  streams.Record(&event, stream);
  uint64_t asked = 1;
  while (streams.QueryEvent(&event) == kNotReady && asked < 2 * kPatience) ++asked;
  EXPECT_EQ(asked, kPatience);
  Launch(streams, stream);
  EXPECT_EQ(streams.Query(stream), kNotReady) << "patience begins anew with other work";
}

TEST(StreamsTest, AThreadThatOnlyAsksWaitsForAFewQueries) {
  Streams streams(1);
  Stream* const stream = streams.Create(0, 0, 0);
  Event event;
  Launch(streams, stream);
  streams.Record(&event, stream);
  uint64_t asked = 1;
  std::thread([&] {
    while (streams.QueryEvent(&event) == kNotReady && asked < kPatience) ++asked;
  }).join();
  EXPECT_EQ(asked, kPatienceOfPollers);
}

TEST(StreamsTest, AStreamThatWaitsIsLateToo) {
  Streams streams(10);
  Stream* const first = streams.Create(0, 0, 0);
  Stream* const second = streams.Create(0, 0, 0);
  Event event;
  Launch(streams, first);
  streams.Record(&event, first);
  EXPECT_EQ(streams.Query(second), kSuccess);
  streams.Wait(second, &event);
  EXPECT_EQ(streams.Query(second), kNotReady);
}

TEST(StreamsTest, ACaptureCollectsTheWorkOfAllStreamsThatJoin) {
  Streams streams(1);
  Stream* const first = streams.Create(0, 0, 0);
  Stream* const second = streams.Create(0, 0, 0);
  Event fork, join;
  ASSERT_EQ(streams.BeginCapture(first, nullptr, {}), kSuccess);
  Launch(streams, first);
  streams.Record(&fork, first);
  ASSERT_EQ(streams.Wait(second, &fork), kSuccess);
  Launch(streams, second);
  streams.Record(&join, second);
  EXPECT_EQ(streams.QueryEvent(&join), kCaptureUnsupported);
  streams.Wait(first, &join);
  Launch(streams, first);
  Graph* graph = nullptr;
  EXPECT_EQ(streams.EndCapture(second, &graph), kCaptureUnmatched) << "it did not begin there";
  ASSERT_EQ(streams.EndCapture(first, &graph), kSuccess);
  ASSERT_EQ(graph->nodes.size(), 3u);
  EXPECT_EQ(graph->nodes[2]->dependencies, (Frontier{graph->nodes[0].get(), graph->nodes[1].get()}));
  EXPECT_EQ(streams.CaptureOf(second).status, CaptureStatus::kNone);
  delete graph;
}

TEST(StreamsTest, WaitingForACapturingStreamSpoilsTheCapture) {
  Streams streams(1);
  Stream* const stream = streams.Create(0, 0, 0);
  streams.BeginCapture(stream, nullptr, {});
  Launch(streams, stream);
  EXPECT_EQ(streams.Synchronize(stream), kCaptureUnsupported);
  EXPECT_EQ(streams.Issue(stream, NodeType::kKernel), kCaptureInvalidated);
  Graph* graph = nullptr;
  EXPECT_EQ(streams.EndCapture(stream, &graph), kCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
}

}  // namespace
}  // namespace vramscope::simulated
