// SPDX-License-Identifier: Apache-2.0
// The address of each variable's memory, read in the process itself: a few loads per variable, no Python.
//
// Why: TensorFlow gives a variable a new buffer whenever it assigns to it while the old one is still being
// read. In a traced step most parameters move in this way. Asking Python for the address of one variable
// takes 16 us. Reading it here takes about 10 ns, so all variables can be examined after every step.
//
//   EagerTensor (Python)         gives its
//     tensorflow::TensorHandle   gives its
//     tensorflow::Tensor         a word of it points to a TensorBuffer with a
//     tensorflow::ResourceHandle a word of it points to the
//     tensorflow::Var            a word of it points to the
//     tensorflow::TensorBuffer   +16 address of the bytes
//
// No header of TensorFlow is used. The offsets of these words are not known beforehand: they are searched
// for. A variable is followed only if the chain ends, at the time it is added, at the address that DLPack
// gives for it. Everything on the chain is read through the kernel until then, so that a wrong guess cannot
// crash.
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

// Follows the variable with this handle (a Python object of type EagerTensor), which now lies at `address`.
// Returns its number, from 1; 0 if it cannot be followed. Records nothing. Call it with the GIL held, like
// all functions here except NoteFreed.
uint32_t FollowVariable(const void* handle, uint64_t address, uint64_t bytes, const VariableName& name);

// The variable no longer exists. Must be called before its handle is released.
void ForgetVariable(uint32_t number);

// A variable that moves twice may be back at its old address, in another block. So freed addresses are noted,
// one byte each by a hash: a collision only repeats a label.
inline constexpr uint64_t kFreedPlaces = 4096;
extern std::atomic<uint8_t> freed_since_look[kFreedPlaces];
inline std::atomic<uint8_t>& FreedPlace(uint64_t address) {
  return freed_since_look[(address >> 6) * 0x9e3779b97f4a7c15 >> 52];
}
// Call it for every freed block, from any thread.
inline void NoteFreed(const void* block) {
  FreedPlace(reinterpret_cast<uint64_t>(block)).store(1, std::memory_order_relaxed);
}

// Whether another thread may assign to a variable during the call. If so, the buffer that it deletes is read
// through the kernel, about 1 us for each variable.
enum class Others : uint8_t { kNone, kMayAssign };

// Records a label for each variable that has a new block since the last call. A variable that gets a new
// block during the call is labeled by the next call.
void LookAtVariables(Others others);

}  // namespace vramscope::injector::tensorflow
