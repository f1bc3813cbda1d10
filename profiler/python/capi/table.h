// SPDX-License-Identifier: Apache-2.0
// A table for Python: columns that are exported as one record batch of the Arrow C data interface.
//
// Exported structs share the table's memory. The table exists until all exported structs are released, which
// any thread may do.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/python/capi/arrow_c_data.h"
#include "profiler/python/capi/column.h"

namespace vramscope::python {

class Table {
 public:
  // Adds an empty column of type `Kind` and returns it. The reference is valid while the table exists.
  template <typename Kind>
  Kind& Add(const std::string& name) {
    auto column = std::make_unique<Kind>(name);
    Kind& added = *column;
    columns_.push_back(std::move(column));
    return added;
  }

  [[nodiscard]] const std::vector<std::unique_ptr<Column>>& columns() const { return columns_; }
  [[nodiscard]] int64_t rows() const { return columns_.empty() ? 0 : columns_.front()->rows(); }

 private:
  std::vector<std::unique_ptr<Column>> columns_;
};

// Fill `out`, which the receiver must release with out->release. All columns must have the same number of
// rows.
void ExportSchema(const Table& table, ArrowSchema* out);
void ExportArray(const std::shared_ptr<const Table>& table, ArrowArray* out);
// The stream has one batch.
void ExportStream(const std::shared_ptr<const Table>& table, ArrowArrayStream* out);

}  // namespace vramscope::python
