// SPDX-License-Identifier: Apache-2.0
// This process's subscription to CUPTI: when it is taken, and when it is given up for others.
//
// CUPTI serves one subscriber. torch.profiler, when it finds the slot taken, records no GPU events for the
// rest of the process; so we hold it only where we must, and let go before another client asks:
//
//   off          never
//   auto         when the driver's hooks are in place, a driver is loaded, and not one look-up came through
//   them: they were passed by on           always, also for comparison with the hooks, with activity records
//
//   ours ──► another client subscribes: ours is given up ──► it unsubscribes or finalizes: ours is taken
//   again
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
