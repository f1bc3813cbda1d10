// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/export.h"

#include <algorithm>
#include <array>

namespace vramscope::exporting {
namespace {

constexpr std::array kFormats = {
    Format{"csv", ".csv", "rows of one --table", false, WriteCsv},
    Format{"sqlite", ".sqlite .sqlite3 .db", "a database with tables and views", false, WriteSqlite},
    Format{"chrome", ".json", "Chrome's trace events: chrome://tracing, Perfetto", false, WriteChrome},
    Format{"perfetto", ".perfetto-trace .pftrace", "Perfetto's own format: ui.perfetto.dev", false,
           WritePerfetto},
    Format{"speedscope", ".speedscope.json", "live bytes at the peak, or --at, by stack: speedscope.app",
           true, WriteSpeedscope},
    Format{"collapsed", ".collapsed .folded", "the same, one line per stack, for flamegraph.pl", true,
           WriteCollapsed},
    Format{"pprof", ".pb.gz .pprof", "the same for go tool pprof", true, WritePprof},
};

struct TableName {
  const char* name;
  Table table;
};
constexpr std::array kTables = {TableName{"events", Table::kEvents}, TableName{"blocks", Table::kBlocks},
                                TableName{"series", Table::kSeries}, TableName{"steps", Table::kSteps}};

}  // namespace

std::span<const Format> Formats() { return kFormats; }

const Format* FormatNamed(std::string_view name) {
  for (const Format& format : kFormats) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

const Format* FormatOfPath(std::string_view path) {
  const Format* best = nullptr;
  size_t longest = 0;
  for (const Format& format : kFormats) {
    std::string_view endings = format.endings;
    while (!endings.empty()) {
      const std::string_view ending = endings.substr(0, endings.find(' '));
      endings.remove_prefix(std::min(endings.size(), ending.size() + 1));
      if (!path.ends_with(ending) || ending.size() <= longest) continue;
      best = &format;
      longest = ending.size();
    }
  }
  return best;
}

Result<Table> ParseTable(std::string_view name) {
  for (const TableName& table : kTables) {
    if (name == table.name) return table.table;
  }
  return Error{"--table is events, blocks, series or steps."};
}

}  // namespace vramscope::exporting
