// SPDX-License-Identifier: Apache-2.0
// This process's subscription to CUPTI: when we take it, and when we give it up for other clients.
//
// CUPTI serves one subscriber. If torch.profiler finds the slot taken, it records no GPU events for the rest
// of the process. So we hold the slot only where we must, and release it before another client asks:
//
//   off    never
//   auto   if the driver's hooks are in place and a driver is loaded, but no look-up came through the hooks:
//          the program bypasses them
//   on     always, with activity records; also for comparison with the hooks
//
//   ours ──► another client subscribes: we give it up ──► it unsubscribes or finalizes: we take it again
//
// We see the other client when it calls cuptiSubscribe(_v2), cuptiUnsubscribe, cuptiFinalize or
// cuptiActivityRegisterCallbacks through the dynamic linker. There our functions of these names are found
// first, also by PyTorch's profiler. We never call cuptiFinalize.
#pragma once

namespace vramscope::injector::cupti {

// Called where a subscription may be taken: torch was imported, or a step has ended. Cheap if there is
// nothing to do. Do not call it from inside an allocator.
void ConsiderCupti();

// The driver is starting and has loaded this library for it (CUDA_INJECTION64_PATH).
void DriverStarts();

}  // namespace vramscope::injector::cupti
