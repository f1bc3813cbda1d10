// SPDX-License-Identifier: Apache-2.0
// TensorFlow's own record of a thread's current allocation: operator and purpose.
//
// TensorFlow keeps it with or without its profiler:
//
//   tsl::profiler::MemoryDebugAnnotation, one for each thread (2.21)
//     0  string_view op      {length, pointer}     "gradient_tape/sequential/fc1/MatMul_1"
//    16  int64 step
//    24  string_view region  {length, pointer}     "output", "temp", "dynamic"
//    40  int32 data type
//    48  std::function<std::string()> shape
//
// Before the first read, the layout is proven in the running process. TensorFlow's own constructor must write
// known values at these offsets. Its destructor must restore the earlier values. Otherwise blocks have no
// operators, and coverage reports it.
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

// The calling thread's annotation; nullptr if the layout is not proven.
const Annotation* CurrentAnnotation();

// A stack with one frame, the thread's operator: "sequential/fc1/MatMul", with " [temp]" for memory that is
// no output. 0 outside operators.
uint32_t OperatorStackId(const Annotation* annotation);

}  // namespace vramscope::injector::tensorflow
