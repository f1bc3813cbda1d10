// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/failure.h"

#include <new>
#include <stdexcept>

namespace vramscope::text {

std::string SentenceOf(const std::exception& failure, const std::string& what) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr ||
                      dynamic_cast<const std::length_error*>(&failure) != nullptr;
  if (memory)
    return "there is not enough memory for " + what +
           ". Use a machine with more memory, or raise the limit (ulimit -v).";
  return std::string(failure.what()) + ". This is a bug in vramscope; please report it.";
}

std::string FailureOf(const std::function<void()>& work, const std::string& what) {
  try {
    work();
    return "";
  } catch (const std::exception& failure) {
    return SentenceOf(failure, what);
  }
}

}  // namespace vramscope::text
