// SPDX-License-Identifier: Apache-2.0
// Keeps a Python program that ends right after backward() from being aborted.
//
// Before 3.14, Python ends an autograd thread that requests the GIL during shutdown with pthread_exit. The
// forced unwinding reaches a noexcept function of C++: "terminate called without an active exception". On a
// GPU the threads are asleep by then. On a device that answers at once, 7 of 8 such programs were aborted.
// Python 3.14 lets the thread hang instead, and so do we, only while Python shuts down.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <initializer_list>

#include "injector/simulated_cuda/abi.h"

namespace {

bool PythonShutsDown() {
  using Question = int (*)();
  for (const char* const name : {"Py_IsFinalizing", "_Py_IsFinalizing"}) {
    if (const auto ask = reinterpret_cast<Question>(dlsym(RTLD_DEFAULT, name))) return ask() != 0;
  }
  return false;
}

}  // namespace

SIMULATED_EXPORT void pthread_exit(void* result) {
  // The autograd engine would wait 10 s for this thread when it is destroyed; it reads its limit only then.
  if (PythonShutsDown()) setenv("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0", 0);
  while (PythonShutsDown()) pause();
  using Exit = void (*)(void*);
  reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "pthread_exit"))(result);
  __builtin_unreachable();
}
