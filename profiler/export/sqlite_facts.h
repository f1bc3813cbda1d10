// SPDX-License-Identifier: Apache-2.0
// Tables of the SQLite export that are as recorded: stacks, operators, the driver's side, counters.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "profiler/export/sqlite_rows.h"
#include "profiler/model/run.h"

namespace vramscope::exporting {

// The table `stacks`: each stack once, a row for each frame.
class Stacks {
 public:
  Stacks(const model::Run& run, Database& db, Texts& texts)
      : run_(run), texts_(texts), rows_(db, "stacks", 3) {}
  // The stack's number, or NULL where there is none.
  void Put(Rows& rows, uint32_t stack);

 private:
  const model::Run& run_;
  Texts& texts_;
  Rows rows_;
  std::unordered_set<uint32_t> written_;
};

// Calls of operators in deep steps, outer ones first.
void WriteOperators(const model::Run& run, Database& db, Texts& texts, Stacks& stacks);
// Segments, what each device has in use, and by whom.
void WriteDriverFacts(const model::Run& run, Database& db);
void WriteCounters(const model::Run& run, Database& db);

}  // namespace vramscope::exporting
