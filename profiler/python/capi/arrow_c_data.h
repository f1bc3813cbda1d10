// SPDX-License-Identifier: Apache-2.0
// The structs of the Arrow C data interface and of its C stream interface. Their layout is fixed by
// https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html, so no library is
// needed.
#pragma once

#include <cstdint>

extern "C" {

struct ArrowSchema {
  const char* format;  // "l" int64, "i" int32, "b" bool, "u" UTF-8, "+s" struct
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace vramscope::python {

inline constexpr int64_t kArrowNullable = 2;  // ARROW_FLAG_NULLABLE

}  // namespace vramscope::python
