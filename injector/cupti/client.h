// SPDX-License-Identifier: Apache-2.0
// This process's subscription to CUPTI: when it is taken, and when it is given up for others.
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
// The other client is seen when it calls cuptiSubscribe(_v2), cuptiUnsubscribe, cuptiFinalize or
// cuptiActivityRegisterCallbacks through the dynamic linker, where our functions of these names stand in
// front (PyTorch's profiler does). cuptiFinalize is never called by us.
#pragma once

namespace vramscope::injector::cupti {

// Moments at which a subscription may be taken: torch is imported, a step has ended. Cheap when there is
// nothing to do. Not from inside an allocator.
void ConsiderCupti();

// The driver starts and has loaded this library for it (CUDA_INJECTION64_PATH).
void DriverStarts();

}  // namespace vramscope::injector::cupti
