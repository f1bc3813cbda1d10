// SPDX-License-Identifier: Apache-2.0
// The subscription of this process to CUPTI: when vramscope subscribes, and when it unsubscribes for another
// client.
//
// CUPTI allows one subscriber. If torch.profiler finds another subscriber, it records no GPU events for the
// remaining life of the process. So vramscope subscribes only where needed (option cupti):
//
//   off    never
//   auto   if the driver's hooks are in place and a driver is loaded, but no look-up came through the hooks:
//          the program bypasses them
//   on     always, with activity records; also for comparison with the hooks
//
//   we subscribe ──► another client subscribes: we unsubscribe first
//                ──► the other client unsubscribes or finalizes: we subscribe again
//
// We see the other client because the dynamic linker binds its calls to our functions of the same names:
// cuptiSubscribe(_v2), cuptiUnsubscribe, cuptiFinalize and cuptiActivityRegisterCallbacks. We never call
// cuptiFinalize ourselves.
#pragma once

namespace vramscope::injector::cupti {

// Subscribes if the option and the loaded libraries require it. Call after torch is imported and after each
// step. Cheap if no library was loaded since the last call. Must not be called inside an allocator.
void ConsiderCupti();

// Like ConsiderCupti. The driver calls this when it starts and has loaded this library
// (CUDA_INJECTION64_PATH).
void DriverStarts();

}  // namespace vramscope::injector::cupti
