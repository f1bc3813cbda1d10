// SPDX-License-Identifier: Apache-2.0
// Formats numbers for users (bytes, counts, percentages, durations), and cuts texts to a width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::text {

// "0 B", "512 B", "4.0 KiB", "11.6 GiB", "2,048 TiB": one decimal, binary units up to TiB.
std::string FormatBytes(uint64_t bytes);
// Changes FormatBytes to three digits: "1.95 GiB", "19.5 GiB", "195 MiB". The viewer calls it before it
// starts threads.
void UseThreeDigits();
// Like FormatBytes, with a sign: "+4.0 KiB", "-1.5 MiB", "0 B".
std::string FormatSignedBytes(int64_t bytes);
// The change from `before` to `after`: "-12.3 %", "+0.02 %", "under 0.01 %", "no change"; "" if `before` is
// 0.
std::string FormatChange(uint64_t before, uint64_t after);
// "1,204,882"
std::string FormatCount(uint64_t count);
// "1 event", "1,204,882 events". `plural` if it is not noun + "s".
std::string FormatCount(uint64_t count, std::string_view noun, std::string_view plural = {});
// `part` as a percentage of `whole`: "59 %", "0.4 %", "< 0.1 %"; "0 %" if `part` or `whole` is 0.
std::string FormatPercent(uint64_t part, uint64_t whole);
// "420 ns", "12.3 us", "8.1 ms", "2.45 s", "3 min 07 s", "2 h 05 min".
std::string FormatDuration(uint64_t ns);
// A time of a run: "1.20 s"; "event 7" if the times are event numbers (model::Run::counts_events).
std::string FormatTime(uint64_t time_ns, bool counts_events);
// Like FormatTime, within a sentence: "1.20 s after the start"; "event 7".
std::string FormatMoment(uint64_t time_ns, bool counts_events);

// Returns how many columns `text` takes on a terminal: its UTF-8 code points, without color sequences. A wide
// (CJK) or combining character counts as one column.
size_t DisplayWidth(std::string_view text);
// Cuts `text` to `columns` columns. First removes folders from the start of the last path in `text`. If that
// is not enough, removes the middle of the text. Keeps all color sequences. `unicode`: true = the ellipsis is
// "…", false = "...".
std::string Shorten(std::string_view text, size_t columns, bool unicode);

}  // namespace vramscope::text
