// SPDX-License-Identifier: Apache-2.0
// Writes those tables of the SQLite export that contain recorded data unchanged: stacks, operators, driver
// calls, counters.
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
  // Appends the number of `stack` to `rows`, or NULL if `stack` is 0. The first call with a stack also writes
  // the stack's frames.
  void Put(Rows& rows, uint32_t stack);

 private:
  const model::Run& run_;
  Texts& texts_;
  Rows rows_;
  std::unordered_set<uint32_t> written_;
};

// Writes the operator calls of deep steps. An operator comes before the operators that it calls.
void WriteOperators(const model::Run& run, Database& db, Texts& texts, Stacks& stacks);
// Writes the segments, the used bytes of each device, and the bytes of each owner of device memory.
void WriteDriverFacts(const model::Run& run, Database& db);
void WriteCounters(const model::Run& run, Database& db);

}  // namespace vramscope::exporting
