// SPDX-License-Identifier: Apache-2.0
// The place in the program where a block was allocated. Two blocks have the same place if all members are
// equal.
#pragma once

#include <map>
#include <string_view>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/timeline/training.h"

namespace vramscope::growth {

enum class Keeper : uint8_t;

struct Place {
  std::string_view line;
  std::string_view module;
  std::string_view op;
  timeline::Phase phase{};
  Keeper keeper{};
  bool pinned_host = false;
  auto operator<=>(const Place&) const = default;
};

class Places {
 public:
  // `analysis` must outlive this object.
  Places(const classify::Analysis& analysis, model::ProcessIndex process)
      : run_(analysis.run()), training_(analysis.training()[process]) {}

  [[nodiscard]] Place Of(model::BlockId block, const classify::Origin& origin, Keeper keeper);
  // Returns the most informative frame of a stack, as text; "" if unknown.
  [[nodiscard]] std::string_view LineOf(uint32_t stack);

 private:
  const model::Run& run_;
  const timeline::Training& training_;
  std::map<uint32_t, std::string_view> lines_;
};

}  // namespace vramscope::growth
