// SPDX-License-Identifier: Apache-2.0
// Converts cuDNN descriptors to bytes and back. The bytes go through the pipe to the process that runs the
// real cuDNN (cudnn_oracle.h).
//
//   message     number of bytes that follow (u32), then those bytes
//   tree        number of descriptors (u32), then each descriptor
//   descriptor  kind (i32), number of attributes (u32), then each attribute
//   attribute   name (i32), type (i32), count (i64), elements
//
// If an attribute refers to a descriptor, the element is the position of that descriptor in the tree (u64).
// Each descriptor comes before the descriptors that refer to it. The root is the last descriptor. Numbers
// have the machine's byte order.
#pragma once

#include <string>

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

inline constexpr uint32_t kLargestMessage = 16 << 20;  // bytes; a graph has some thousands

// Returns `root` and all descriptors that it refers to as bytes. Omits handles, pointers, and attributes that
// only cuDNN sets.
std::string TextOfQuestion(const Descriptor& root);
// Like TextOfQuestion, but includes the attributes that cuDNN has set.
std::string TextOfAnswer(const Descriptor& root);

// Returns the root, which the caller must release. Returns nullptr if the bytes are not a valid tree.
Descriptor* ParseTree(const std::string& text);

// Send or receive one message. ReceiveMessage waits at most `seconds` for each part of the message (negative:
// no limit). Both return false if the other process has ended, or if the message is larger than
// kLargestMessage.
bool SendMessage(int pipe, const std::string& bytes);
bool ReceiveMessage(int pipe, int seconds, std::string* bytes);

}  // namespace vramscope::simulated::cudnn
