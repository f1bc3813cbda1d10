// SPDX-License-Identifier: Apache-2.0
// Prints a trace as text (trace_format/testing/text_dump.h): the C++ reader's side of the comparison with
// read_trace.py.
#include <cstdio>

#include "trace_format/reader.h"
#include "trace_format/testing/text_dump.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: dump_trace FILE\n"), 2;
  const auto reader = vramscope::trace::TraceReader::Open(argv[1]);
  if (!reader.ok()) return std::fprintf(stderr, "%s\n", reader.error().sentence.c_str()), 1;
  const std::string text = vramscope::trace::testing::TraceText(**reader);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}
