// SPDX-License-Identifier: Apache-2.0
// Functions that the headers of GCC 12 call and that the C++ library of GCC 8 lacks. Linked into the prebuilt
// deep recorders of a wheel (scripts/wheel/bridges.py), which use the C++ library of the process.
#include <new>

namespace std {

// GLIBCXX_3.4.29. For a std::vector of more elements than memory can have.
__attribute__((visibility("hidden"), noreturn)) void __throw_bad_array_new_length() {
  throw bad_array_new_length();
}

}  // namespace std
