// SPDX-License-Identifier: Apache-2.0
// The leaks panel: the answer of `vramscope leaks` for a device, computed on a thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "profiler/leaks/growth.h"
#include "viewer/model/background_task.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// "Memory grows by 12 MiB a step, from 2 places."
[[nodiscard]] std::string LeaksHeadline(const leaks::Answer& answer);
// The filter for the live blocks of a growing place (module and operator); "" if neither is known.
[[nodiscard]] std::string FilterFor(const leaks::Growth& growth);

class LeaksView {
 public:
  // Document and device must live until the next Update or Clear. Calls `wake` when there is an answer.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Forgets the device; call before its document is destroyed. Waits for the thread.
  void Clear() { answer_.Clear(); }
  [[nodiscard]] bool busy() const { return answer_.busy(); }
  // Nothing while it is being computed.
  [[nodiscard]] const std::optional<Result<leaks::Answer>>& answer() const { return answer_.answer(); }

 private:
  BackgroundAnswer<const DeviceView*, Result<leaks::Answer>> answer_;
};

}  // namespace vramscope::viewer
