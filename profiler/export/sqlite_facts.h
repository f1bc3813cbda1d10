// SPDX-License-Identifier: Apache-2.0
// The tables of the SQLite export with unchanged recorded data: stacks, operators, driver calls, counters.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "profiler/export/sqlite_rows.h"
#include "profiler/model/run.h"

namespace vramscope::exporting {

// Writes the table `stacks`: one row per frame of each stack.
class Stacks {
 public:
  Stacks(const model::Run& run, Database& db, Texts& texts)
      : run_(run), texts_(texts), rows_(db, "stacks", 3) {}
  // Appends the stack's number to `rows`, or NULL if `stack` is 0.
  void Put(Rows& rows, uint32_t stack);

 private:
  const model::Run& run_;
  Texts& texts_;
  Rows rows_;
  std::unordered_set<uint32_t> written_;
};

// Operator calls in deep steps, outer ones first.
void WriteOperators(const model::Run& run, Database& db, Texts& texts, Stacks& stacks);
// Segments, the used bytes of each device, and the bytes of each owner of device memory.
void WriteDriverFacts(const model::Run& run, Database& db);
void WriteCounters(const model::Run& run, Database& db);

}  // namespace vramscope::exporting
