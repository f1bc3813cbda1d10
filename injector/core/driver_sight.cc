// SPDX-License-Identifier: Apache-2.0
#include "injector/core/driver_sight.h"

namespace vramscope::injector {

constinit DriverSight seen_by_hooks = {};
constinit DriverSight seen_by_callbacks = {};
constinit DriverSight seen_by_activity = {};

}  // namespace vramscope::injector
