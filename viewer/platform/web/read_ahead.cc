// SPDX-License-Identifier: Apache-2.0
// The page's read_ahead: with only one thread, nothing is read ahead.
#include "profiler/model/read_ahead.h"

namespace vramscope::model {

Status ReadAhead::ForEachBatch(const Visit& visit) const { return source().ForEachBatch(visit); }

}  // namespace vramscope::model
