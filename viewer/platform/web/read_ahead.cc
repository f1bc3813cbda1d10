// SPDX-License-Identifier: Apache-2.0
// Without a second thread there is nothing to read ahead.
#include "profiler/model/read_ahead.h"

namespace vramscope::model {

Status ReadAhead::ForEachBatch(const Visit& visit) const { return source().ForEachBatch(visit); }

}  // namespace vramscope::model
