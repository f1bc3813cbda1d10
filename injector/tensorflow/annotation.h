// SPDX-License-Identifier: Apache-2.0
// TensorFlow's own record of the allocation that a thread is making: the operator, and the purpose.
//
// TensorFlow keeps this for its own profiler, whether or not one runs. The executor and the kernel contexts
// fill it in before they allocate:
//
//   tsl::profiler::MemoryDebugAnnotation, one for each thread (2.21)
//     0  string_view op      {length, pointer}     "gradient_tape/sequential/fc1/MatMul_1"
//    16  int64 step
//    24  string_view region  {length, pointer}     "output", "temp", "dynamic"
//    40  int32 data type
//    48  std::function<std::string()> shape
//
// No header of TensorFlow is used. Before the first read, the layout is proven in the running process.
// TensorFlow's own constructor makes a ScopedMemoryDebugAnnotation with known values. The thread's
// annotation must then have these values at these offsets, and after the destructor the earlier ones.
// Otherwise blocks have no operators, and coverage reports it.
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

// The calling thread's annotation; nullptr if the layout is not proven or not known yet. Proves it at the
// first call.
const Annotation* CurrentAnnotation();

// The id of the stack with one frame, the operator of the calling thread: "sequential/fc1/MatMul", with "
// [temp]" for memory that is not an output. 0 if it is in no operator. Cached in a table that all threads
// share.
uint32_t OperatorStackId(const Annotation* annotation);

}  // namespace vramscope::injector::tensorflow
