// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: bytes, counts, shares, durations; and texts cut to a width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::text {

// "0 B", "512 B", "4.0 KiB", "11.6 GiB", "2,048 TiB": one decimal, binary units up to TiB.
std::string FormatBytes(uint64_t bytes);
// From this call on, FormatBytes uses three digits: "1.95 GiB", "19.5 GiB", "195 MiB". For the viewer, before
// there are threads.
void UseThreeDigits();
// Like FormatBytes, with a sign: "+4.0 KiB", "-1.5 MiB", "0 B".
std::string FormatSignedBytes(int64_t bytes);
// "-12.3 %", "+0.02 %", "no change"; "under 0.01 %" if smaller; "" if `before` is 0.
std::string FormatChange(uint64_t before, uint64_t after);
// "1,204,882"
std::string FormatCount(uint64_t count);
// "1 event", "1,204,882 events". `plural` if it is not noun + "s".
std::string FormatCount(uint64_t count, std::string_view noun, std::string_view plural = {});
// "59 %", "0.4 %" below 1, "< 0.1 %" if smaller; "0 %" for nothing and for whole = 0.
std::string FormatPercent(uint64_t part, uint64_t whole);
// "420 ns", "12.3 us", "8.1 ms", "2.45 s", "3 min 07 s", "2 h 05 min".
std::string FormatDuration(uint64_t ns);
// A time of a run: "1.20 s"; "event 7" where times are event numbers (model::Run::counts_events).
std::string FormatTime(uint64_t time_ns, bool counts_events);
// Like FormatTime, within a sentence: "1.20 s after the start"; "event 7".
std::string FormatMoment(uint64_t time_ns, bool counts_events);

// Columns of `text`: UTF-8 code points without color sequences. Wide (CJK) and combining characters count as
// one.
size_t DisplayWidth(std::string_view text);
// Cuts `text` to `columns`. First shortens the last path at its start, then cuts out the middle. Keeps all
// color sequences.
std::string Shorten(std::string_view text, size_t columns, bool unicode);

}  // namespace vramscope::text
