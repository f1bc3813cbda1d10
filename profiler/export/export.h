// SPDX-License-Identifier: Apache-2.0
// Exports a run in the formats of other tools. Each format has its own source file.
//
//   Content (analysis, report's answer)  ──  series, slices, live stacks ─┬─ csv  sqlite  chrome  perfetto
//                                                                        └─ speedscope  collapsed  pprof
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/export/content.h"
#include "trace_format/result.h"

namespace vramscope::exporting {

enum class Table : uint8_t { kEvents, kBlocks, kSeries, kSteps };

struct Options {
  Table table = Table::kBlocks;  // for CSV
};

struct Format {
  const char* name;     // value of --to
  const char* endings;  // file name endings, separated by spaces; the longest match decides
  const char* help;
  bool of_moment;  // true: the export contains one moment; false: the whole run
  // Writes the file `path`, and replaces an existing file. Two threads must not write to the same path.
  Status (*write)(const Content& content, const Options& options, const std::string& path);
};
[[nodiscard]] std::span<const Format> Formats();
[[nodiscard]] const Format* FormatNamed(std::string_view name);
[[nodiscard]] const Format* FormatOfPath(std::string_view path);  // nullptr if no ending matches

[[nodiscard]] Result<Table> ParseTable(std::string_view name);

Status WriteCsv(const Content& content, const Options& options, const std::string& path);
Status WriteSqlite(const Content& content, const Options& options, const std::string& path);
Status WriteChrome(const Content& content, const Options& options, const std::string& path);
Status WritePerfetto(const Content& content, const Options& options, const std::string& path);
Status WriteSpeedscope(const Content& content, const Options& options, const std::string& path);
Status WriteCollapsed(const Content& content, const Options& options, const std::string& path);
Status WritePprof(const Content& content, const Options& options, const std::string& path);

}  // namespace vramscope::exporting
