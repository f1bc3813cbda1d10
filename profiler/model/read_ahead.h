// SPDX-License-Identifier: Apache-2.0
// A source that decodes events ahead on its own thread.
//
// Why: decoding takes about as long as building a run from the events, so two threads halve the time.
//
//   thread   decode 1 │ decode 2 │ decode 3 │ ...        at most kBatches of kEvents wait
//   caller            │ visit 1  │ visit 2  │ ...
#pragma once

#include "profiler/model/forwarding_source.h"

namespace vramscope::model {

class ReadAhead final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  // Calls `visit` on the caller's thread. The batches are larger than those of the source.
  Status ForEachBatch(const Visit& visit) const override;

 private:
  // A batch must fit into a processor cache. It must also be large enough that the threads seldom wait for
  // each other.
  static constexpr size_t kEvents = 8192;
  static constexpr size_t kBatches = 4;

  class Queue;
};

}  // namespace vramscope::model
