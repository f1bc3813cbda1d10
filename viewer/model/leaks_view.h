// SPDX-License-Identifier: Apache-2.0
// The data of the leaks panel: the answer of `vramscope leaks` for a device, computed on another thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "profiler/leaks/growth.h"
#include "viewer/model/background_task.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// Returns the headline of the panel: "Memory grows by 12 MiB a step, from 2 places."
[[nodiscard]] std::string LeaksHeadline(const leaks::Answer& answer);
// Returns the filter that selects the live blocks of a growing place by module and operator; "" if neither is
// known.
[[nodiscard]] std::string FilterFor(const leaks::Growth& growth);

class LeaksView {
 public:
  // Call once per frame. Starts the computation if the device has changed. The other thread calls `wake` when
  // the answer is ready. Document and device must exist until the next Update or Clear.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Waits for the other thread and drops the device. Call before the device's document is destroyed.
  void Clear() { answer_.Clear(); }
  [[nodiscard]] bool busy() const { return answer_.busy(); }
  // Returns the answer; nullopt while it is being computed.
  [[nodiscard]] const std::optional<Result<leaks::Answer>>& answer() const { return answer_.answer(); }

 private:
  BackgroundAnswer<const DeviceView*, Result<leaks::Answer>> answer_;
};

}  // namespace vramscope::viewer
