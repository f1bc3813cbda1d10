// SPDX-License-Identifier: Apache-2.0
// The address of each variable's memory, read in the process itself.
//
// TensorFlow gives a variable a new buffer if it is assigned while the old buffer is being read. In a traced
// step most parameters move. Python takes 16 us per variable. Reading the address here takes about 10 ns, so
// all variables can be examined after every step.
//
//   EagerTensor (Python)         gives its
//     tensorflow::TensorHandle   gives its
//     tensorflow::Tensor         a word of it points to a TensorBuffer with a
//     tensorflow::ResourceHandle a word of it points to the
//     tensorflow::Var            a word of it points to the
//     tensorflow::TensorBuffer   +16 address of the bytes
//
// The offsets of these words are searched for. A variable is followed only if its chain ends at the address
// that DLPack gives when the variable is added. Until this is checked, all words are read through the kernel,
// so that a wrong guess cannot crash.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector::tensorflow {

struct VariableName {
  uint32_t role;    // trace::Role
  uint32_t source;  // trace::LabelSource
  uint32_t name;    // interned
  uint64_t tensor;  // identifies the variable in the trace
};

// Follows the variable with this handle (a Python EagerTensor), which lies at `address`. Returns its number,
// from 1; 0 if it cannot be followed. Records nothing. All functions except NoteFreed need the GIL.
uint32_t FollowVariable(const void* handle, uint64_t address, uint64_t bytes, const VariableName& name);

// Stops following the variable. Call before its handle is released.
void ForgetVariable(uint32_t number);

// A variable that moves twice may be back at its old address. So freed addresses are noted by hash, one byte
// each. A collision only repeats a label.
inline constexpr uint64_t kFreedPlaces = 4096;
extern std::atomic<uint8_t> freed_since_look[kFreedPlaces];
inline std::atomic<uint8_t>& FreedPlace(uint64_t address) {
  return freed_since_look[(address >> 6) * 0x9e3779b97f4a7c15 >> 52];
}
// Call for every freed block, from any thread.
inline void NoteFreed(const void* block) {
  FreedPlace(reinterpret_cast<uint64_t>(block)).store(1, std::memory_order_relaxed);
}

// Whether another thread may assign to a variable during LookAtVariables. If so, deleted buffers are read
// through the kernel, about 1 us per variable.
enum class Others : uint8_t { kNone, kMayAssign };

// Labels each variable that has a new block since the last call. A variable that gets a block during the call
// is left to the next call.
void LookAtVariables(Others others);

}  // namespace vramscope::injector::tensorflow
