// SPDX-License-Identifier: Apache-2.0
// Reads the operator and the purpose of the calling thread's current allocation from TensorFlow.
//
// TensorFlow stores them for its own profiler, but also when the profiler is off:
//
//   tsl::profiler::MemoryDebugAnnotation, one for each thread (2.21)
//     0  string_view op      {length, pointer}     "gradient_tape/sequential/fc1/MatMul_1"
//    16  int64 step
//    24  string_view region  {length, pointer}     "output", "temp", "dynamic"
//    40  int32 data type
//    48  std::function<std::string()> shape
//
// Before the first read, the layout is checked in the running process. TensorFlow's own constructor must
// write known values at these offsets, and its destructor must restore the earlier values. If the check
// fails, blocks have no operators, and the coverage (docs/glossary.md) reports the failure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::injector::tensorflow {

// libstdc++'s std::string_view.
struct Text {
  size_t length;
  const char* data;
};

struct Annotation {
  Text op;
  int64_t step;
  Text region;
  int32_t data_type;
};

// Returns the calling thread's annotation; nullptr if the check of the layout failed.
const Annotation* CurrentAnnotation();

// Returns the id of a stack with one frame, the annotation's operator: "sequential/fc1/MatMul". The frame
// ends with the region (" [temp]") if the memory is not an output. Returns 0 if no operator is running.
uint32_t OperatorStackId(const Annotation* annotation);

}  // namespace vramscope::injector::tensorflow
