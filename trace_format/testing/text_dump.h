// SPDX-License-Identifier: Apache-2.0
// Prints a trace as text, one definition or event per line. Tests compare this text with golden files and
// with the output of tests/trace_reader/read_trace.py.
//
//   clock 1700000000000000000 5000
//   metadata "torch.version" "2.6.0"
//   process 0 pid=10 parent=1 start=0 end=99 status=0 executable="python3" command="python3 train.py"
//   thread 0 process=0 os_thread=10 name="main"
//   string 1 "weight"
//   stack 2 1 3
//   event 1500 0 alloc address=4096 size=512 device=0 ...
//   live 7 address=4096 size=512 device=0 time=1500 process=0
//
// Texts are in double quotes. In a text, quotes, backslashes, and all bytes below 0x20 or above 0x7e are
// written as \xNN. Fields are decimal and in the order of kEventSchema; fields with the value 0 are left out.
// Lines with "live" are the blocks that are alive at the end.
#pragma once

#include <string>
#include <string_view>

#include "trace_format/event.h"
#include "trace_format/reader.h"

namespace vramscope::trace::testing {

std::string Quoted(std::string_view text);
std::string EventText(const Event& event);
// Prints the strings from id 1 to the first missing id, and the stacks likewise.
std::string TraceText(const TraceReader& reader);

}  // namespace vramscope::trace::testing
