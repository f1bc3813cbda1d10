// SPDX-License-Identifier: Apache-2.0
// The exports of stand_in_cupti.cc, which replaces libcupti in tests. The functions stand_in_... act as the
// CUDA driver: they create callbacks and activity records. The functions cupti... have the signatures of
// CUPTI.
#pragma once

#include "injector/cupti/abi.h"

extern "C" {
void stand_in_init();
void stand_in_call(uint32_t function, const char* name, const void* parameters, int result);
void stand_in_memory(const vramscope::injector::cupti::MemoryRecord* record);
void stand_in_pool(const vramscope::injector::cupti::PoolRecord* record);

vramscope::injector::cupti::Result cuptiSubscribe(vramscope::injector::cupti::Subscriber*,
                                                  vramscope::injector::cupti::Callback, void*);
vramscope::injector::cupti::Result cuptiUnsubscribe(vramscope::injector::cupti::Subscriber);
vramscope::injector::cupti::Result cuptiFinalize();
vramscope::injector::cupti::Result cuptiEnableCallback(uint32_t, vramscope::injector::cupti::Subscriber, int,
                                                       uint32_t);
vramscope::injector::cupti::Result cuptiActivityRegisterCallbacks(
    vramscope::injector::cupti::BufferRequested, vramscope::injector::cupti::BufferCompleted);
vramscope::injector::cupti::Result cuptiActivityEnable(int);
vramscope::injector::cupti::Result cuptiActivityFlushAll(uint32_t);
}
