// SPDX-License-Identifier: Apache-2.0
// Descriptors as bytes, for the pipe to the process with the real cuDNN (cudnn_oracle.h).
//
//   message     number of bytes that follow (u32), then those bytes
//   tree        number of descriptors (u32), then each descriptor
//   descriptor  kind (i32), number of attributes (u32), then each attribute
//   attribute   name (i32), type (i32), count (i64), elements
//
// A descriptor as element is its number in the tree. A descriptor comes before those that refer to it. The
// root is last. Numbers have the machine's byte order.
#pragma once

#include <string>

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

inline constexpr uint32_t kLargestMessage = 16 << 20;  // bytes; a graph has some thousands

// `root` and all descriptors it refers to, without handles, pointers and attributes that only cuDNN sets.
std::string TextOfQuestion(const Descriptor& root);
// Like TextOfQuestion, but with the attributes that cuDNN has set.
std::string TextOfAnswer(const Descriptor& root);

// The root (release it); nullptr if the bytes are no tree.
Descriptor* ParseTree(const std::string& text);

// Sends or receives one message; waits at most `seconds` for each part. False: the other end is gone.
bool SendMessage(int pipe, const std::string& bytes);
bool ReceiveMessage(int pipe, int seconds, std::string* bytes);

}  // namespace vramscope::simulated::cudnn
