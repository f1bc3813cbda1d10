// SPDX-License-Identifier: Apache-2.0
// This process's subscription to CUPTI: when we take it, and when we yield to other clients.
//
// CUPTI serves one subscriber. If torch.profiler finds the slot taken, it records no GPU events for the rest
// of the process. So we hold it only where needed:
//
//   off    never
//   auto   if the driver's hooks are in place and a driver is loaded, but no look-up came through the hooks:
//          the program bypasses them
//   on     always, with activity records; also for comparison with the hooks
//
//   ours ──► another client subscribes: we give it up ──► it unsubscribes or finalizes: we take it again
//
// The other client calls cuptiSubscribe(_v2), cuptiUnsubscribe, cuptiFinalize or
// cuptiActivityRegisterCallbacks through the dynamic linker. The linker finds our functions of these names
// first. We never call cuptiFinalize.
#pragma once

namespace vramscope::injector::cupti {

// Decides whether to take the subscription. Call after torch is imported and after each step. Cheap if
// nothing new was loaded. Not inside an allocator.
void ConsiderCupti();

// Called when the starting driver has loaded this library (CUDA_INJECTION64_PATH).
void DriverStarts();

}  // namespace vramscope::injector::cupti
