// SPDX-License-Identifier: Apache-2.0
// Holds a mutex until the end of a scope.
//
// Why not std::mutex: after fork, a mutex of the child may be locked by a thread that exists only in the
// parent. The child must be able to initialize the mutex again (PTHREAD_MUTEX_INITIALIZER).
#pragma once

#include <pthread.h>

namespace vramscope::injector {

class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace vramscope::injector
