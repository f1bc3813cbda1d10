// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace vramscope::simulated::cudnn {
namespace {

void SetChild(Descriptor& in, int name, const OwnDescriptor& child) {
  Descriptor* const named = child.get();
  in.Set(name, kDescriptor, 1, &named);
}

// A plan of an engine of a graph of one operation, whose two tensors are one and the same.
OwnDescriptor MakePlan() {
  OwnDescriptor plan(new Descriptor(kExecutionPlan));
  const OwnDescriptor configuration(new Descriptor(kEngineConfiguration)), engine(new Descriptor(kEngine));
  const OwnDescriptor graph(new Descriptor(kOperationGraph)), operation(new Descriptor(kConvolutionForward));
  const OwnDescriptor tensor(new Descriptor(kTensor));
  const std::array<int64_t, 4> sizes = {32, 64, 56, 56};
  tensor->Set(kTensorSizes, kInt64, sizes.size(), sizes.data());
  SetChild(*operation, 704, tensor);
  SetChild(*operation, 705, tensor);
  SetChild(*graph, kGraphOperations, operation);
  SetChild(*engine, kEngineGraph, graph);
  engine->SetInt64(kEngineIndex, 7);
  SetChild(*configuration, kConfigurationEngine, engine);
  SetChild(*plan, kPlanConfiguration, configuration);
  const uint64_t handle = 0x1234;
  plan->Set(400, kHandle, 1, &handle);
  plan->SetInt64(kPlanWorkspace, 4096);
  return plan;
}

TEST(CudnnMessageTest, ADescriptorArrivesWithAllThatItNames) {
  const OwnDescriptor arrived(ParseTree(TextOfQuestion(*MakePlan())));
  ASSERT_NE(arrived, nullptr);
  const Descriptor* const engine = arrived->Child(kPlanConfiguration)->Child(kConfigurationEngine);
  EXPECT_EQ(engine->Int64(kEngineIndex, 0), 7);
  const Descriptor* const operation = engine->Child(kEngineGraph)->Child(kGraphOperations);
  EXPECT_EQ(operation->kind(), kConvolutionForward);
  EXPECT_EQ(operation->Child(704)->Int64s(kTensorSizes), (std::vector<int64_t>{32, 64, 56, 56}));
  EXPECT_EQ(operation->Child(704), operation->Child(705)) << "one descriptor stays one";
}

TEST(CudnnMessageTest, HandlesStayAtHomeAndAnswersAreNoQuestion) {
  const OwnDescriptor plan = MakePlan();
  const OwnDescriptor question(ParseTree(TextOfQuestion(*plan))), answer(ParseTree(TextOfAnswer(*plan)));
  EXPECT_EQ(question->Find(400), nullptr);
  EXPECT_EQ(question->Find(kPlanWorkspace), nullptr);
  EXPECT_EQ(answer->Find(400), nullptr);
  EXPECT_EQ(answer->Int64(kPlanWorkspace, 0), 4096);
}

TEST(CudnnMessageTest, ADamagedTreeIsNone) {
  const std::string text = TextOfAnswer(*MakePlan());
  for (size_t length = 0; length < text.size(); ++length)
    ASSERT_EQ(ParseTree(text.substr(0, length)), nullptr) << "cut off after " << length;
  for (size_t place = 0; place < text.size(); ++place) {
    std::string damaged = text;
    damaged[place] = static_cast<char>(0xff);
    const OwnDescriptor parsed(ParseTree(damaged));  // whatever it is, it was read from within the text
  }
}

TEST(CudnnMessageTest, AnEndedConversationIsSeenAtBothEnds) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  std::string received;
  EXPECT_TRUE(SendMessage(ends[0], std::string(100'000, 'x').substr(0, 50'000)));
  EXPECT_TRUE(ReceiveMessage(ends[1], 5, &received));
  EXPECT_EQ(received, std::string(50'000, 'x'));
  close(ends[1]);
  EXPECT_FALSE(ReceiveMessage(ends[0], 5, &received));
  EXPECT_FALSE(SendMessage(ends[0], "to nobody"));
  close(ends[0]);
}

TEST(CudnnDescriptorTest, LivesAsLongAsSomebodyNamesIt) {
  const OwnDescriptor engine(new Descriptor(kEngine));
  {
    const OwnDescriptor graph(new Descriptor(kOperationGraph));
    graph->SetInt64(kFirstExecuted, 5);
    SetChild(*engine, kEngineGraph, graph);
  }
  EXPECT_EQ(engine->Child(kEngineGraph)->Int64(kFirstExecuted, 0), 5);
  const OwnDescriptor copy(new Descriptor(kEngine));
  copy->CopyFrom(*engine);
  EXPECT_EQ(copy->Child(kEngineGraph), engine->Child(kEngineGraph));
}

}  // namespace
}  // namespace vramscope::simulated::cudnn
