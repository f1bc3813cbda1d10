// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace vramscope::cli {
namespace {

using report::DeviceMemory;
using report::DeviceRow;

constexpr int kBesideBar = 52;  // columns of the rest of a row
constexpr size_t kMostLibraries = 5;

std::vector<DeviceRow> RowsToShow(const DeviceMemory& memory) {
  std::vector<DeviceRow> rows;
  for (size_t i = 0; i < report::kDeviceRowCount; ++i) {
    if (memory.rows[i] != 0) rows.push_back(static_cast<DeviceRow>(i));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](DeviceRow a, DeviceRow b) {
    const auto last = [](DeviceRow row) { return row == DeviceRow::kUnattributed; };
    return last(a) != last(b) ? last(b) : memory.Of(a) > memory.Of(b);
  });
  return rows;
}

uint64_t AtLeastZero(int64_t bytes) { return static_cast<uint64_t>(std::max<int64_t>(bytes, 0)); }

// "The workers grow by 12.3 MiB a step, 1.2 GiB in all."
std::string GrowthSentence(std::string_view who, const std::optional<report::Growth>& growth,
                           const Terminal& terminal) {
  if (!growth.has_value()) return "";
  const std::string sentence = fmt::format("{} by {} per step, {} over the recorded steps.", who,
                                           FormatBytes(growth->bytes_per_step), FormatBytes(growth->bytes));
  return "  " + terminal.Paint(sentence, Ink::Warning()) + "\n";
}

std::string Bytes(int64_t bytes) {
  return bytes < 0 ? FormatSignedBytes(bytes) : FormatBytes(AtLeastZero(bytes));
}

}  // namespace

std::string DeviceMemoryTable(const DeviceMemory& memory, const Terminal& terminal) {
  const std::vector<DeviceRow> rows = RowsToShow(memory);
  const uint64_t whole = memory.used.value_or(AtLeastZero(memory.Sum()));
  int64_t widest = 0;
  for (const DeviceRow row : rows) widest = std::max(widest, memory.Of(row));
  const int cells = std::clamp(terminal.width - kBesideBar, 0, kWidestBar);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.MayCut(0, terminal);
  for (const DeviceRow row : rows) {
    const int64_t bytes = memory.Of(row);
    const Ink ink = Ink::Rgb(classify::Info(report::Info(row).color_like).rgb);
    table.AddRow({WordsOf(row, *memory.framework).name, Bytes(bytes),
                  FormatPercent(AtLeastZero(bytes), whole),
                  terminal.Paint(terminal.Bar(AtLeastZero(bytes), AtLeastZero(widest), cells), ink)});
    size_t shown = 0;
    for (const report::LibraryBytes& of : memory.libraries) {
      if (of.row != row || ++shown > kMostLibraries) continue;
      table.AddRow({terminal.Paint("  " + Printable(of.library), Ink::Dim()),
                    terminal.Paint(Bytes(of.bytes), Ink::Dim())});
    }
  }
  return table.ToString();
}

std::string DeviceMemoryHeading(const DeviceMemory& memory, std::string_view when) {
  const std::string capacity =
      memory.capacity.value_or(0) == 0 ? "" : fmt::format(" of {}", FormatBytes(*memory.capacity));
  if (memory.used.has_value())
    return fmt::format("Device memory {}: {}{} in use", when, FormatBytes(*memory.used), capacity);
  return fmt::format("Device memory {}: {} taken by recorded calls", when,
                     FormatBytes(AtLeastZero(memory.Sum())));
}

std::string HostMemoryText(const report::HostMemory& memory, const model::Framework& framework,
                           const Terminal& terminal) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  const auto dim = [&](const std::string& text) { return terminal.Paint(text, Ink::Dim()); };
  if (memory.main.peak_rss_bytes != 0)
    table.AddRow({"Main process", FormatBytes(memory.main.peak_rss_bytes), dim("resident at its peak")});
  if (memory.workers_peak_rss_bytes != 0) {
    const std::string share =
        memory.workers_peak_pss_bytes.has_value()
            ? fmt::format("; {} with shared pages counted once", FormatBytes(*memory.workers_peak_pss_bytes))
            : "";
    table.AddRow({FormatCount(memory.workers.size(), "worker"), FormatBytes(memory.workers_peak_rss_bytes),
                  dim("resident together at their peak" + share)});
  }
  if (memory.shm_peak_bytes != 0)
    table.AddRow({"/dev/shm", FormatBytes(memory.shm_peak_bytes),
                  dim(fmt::format("of {}", FormatBytes(memory.shm_size_bytes)))});
  if (memory.pinned.has_value())
    table.AddRow({"Pinned", FormatBytes(memory.pinned->peak_bytes),
                  dim(fmt::format("page-locked; {} of it by {}'s host allocator",
                                  FormatBytes(memory.pinned->peak_pytorch_bytes), framework.name))});
  return table.ToString() + GrowthSentence("The main process grows", memory.main.growth, terminal) +
         GrowthSentence("The workers grow", memory.workers_growth, terminal);
}

}  // namespace vramscope::cli
