// SPDX-License-Identifier: Apache-2.0
// The table of all PyTorch functions that the injector replaces, one row per function.
//
//   row(our function, readable name, result, mangled name, parameters)
//     -> our function's declaration, exported under the mangled name: the loader binds torch's calls to it
//     -> HookId::k<our function> and its Hook (slots to patch, coverage)
//     -> Real<our function>(): the function of torch, of the same type
//
// The mangled names come from `nm -D` on the wheels 1.13.1 to 2.15.0. A function whose mangled name differs
// between releases has several rows. PyTorch calls all these functions through PLT or vtable relocations.
//
// Parameters that the hooks do not read are declared as pointers. c10::Device is declared as two bytes by
// value. A type that is returned in memory is declared as Opaque.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/hook_rows.h"

namespace vramscope::injector {

// c10::Device, which is passed in one register.
struct DeviceValue {
  int8_t type;
  int8_t index;
};

// A class type that is returned in the caller's memory (at::Tensor, std::vector<at::Tensor>,
// torch::OrderedDict). The hooks only pass such an object on. The copy constructor is declared but not
// defined, so the compiler must construct the object in place.
template <size_t kBytes>
struct Opaque {
  Opaque(const Opaque&);
  Opaque& operator=(const Opaque&) = delete;
  alignas(8) std::byte bytes[kBytes];
};
using TensorResult = Opaque<8>;
using TensorVector = Opaque<24>;
using TensorDictionary = Opaque<112>;
using DataPointer = Opaque<32>;  // c10::DataPtr

// clang-format off
#define VRAMSCOPE_TORCH_HOOKS(row)                                                                              \
  /* c10: memory */                                                                                             \
  row(CpuNew, "c10::ProfiledCPUMemoryReporter::New", void,                                                      \
      "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm",                                                             \
      (void* reporter, void* block, size_t bytes))                                                              \
  row(CpuDelete, "c10::ProfiledCPUMemoryReporter::Delete", void,                                                \
      "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv",                                                           \
      (void* reporter, void* block))                                                                            \
  row(CpuOutOfMemory, "c10::ProfiledCPUMemoryReporter::OutOfMemory", void,                                      \
      "_ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm",                                                      \
      (void* reporter, size_t bytes))                                                                           \
  row(ReportMemory, "c10::reportMemoryUsageToProfiler", void,                                                   \
      "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",                                                  \
      (void* block, int64_t bytes, size_t total_allocated, size_t total_reserved, DeviceValue device))          \
  row(ReportMemorySigned, "c10::reportMemoryUsageToProfiler", void,                                             \
      "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",                                                  \
      (void* block, int64_t bytes, int64_t total_allocated, int64_t total_reserved, DeviceValue device))        \
  row(ReportOutOfMemory, "c10::reportOutOfMemoryToProfiler", void,                                              \
      "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE",                                                    \
      (int64_t bytes, size_t total_allocated, size_t total_reserved, DeviceValue device))                       \
  row(ReportOutOfMemorySigned, "c10::reportOutOfMemoryToProfiler", void,                                        \
      "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE",                                                    \
      (int64_t bytes, int64_t total_allocated, int64_t total_reserved, DeviceValue device))                     \
  /* autograd */                                                                                                \
  row(SavedVariableConstruct, "torch::autograd::SavedVariable", void,                                           \
      "_ZN5torch8autograd13SavedVariableC1ERKN2at6TensorEbb",                                                   \
      (void* saved, const void* tensor, bool is_output, bool is_inplace_on_view))                               \
  row(SavedVariableReset, "torch::autograd::SavedVariable::reset_data", void,                                   \
      "_ZN5torch8autograd13SavedVariable10reset_dataEv",                                                        \
      (void* saved))                                                                                            \
  row(AccumulateGradConstruct, "torch::autograd::AccumulateGrad", void,                                         \
      "_ZN5torch8autograd14AccumulateGradC1EN2at6TensorE",                                                      \
      (void* node, void* tensor))                                                                               \
  row(AccumulateGradApply, "torch::autograd::AccumulateGrad::apply", TensorVector,                              \
      "_ZN5torch8autograd14AccumulateGrad5applyEOSt6vectorIN2at6TensorESaIS4_EE",                               \
      (void* node, void* gradients))                                                                            \
  row(EngineExecute, "torch::autograd::Engine::execute", TensorVector,                                          \
      "_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_",       \
      (void* engine, const void* roots, const void* inputs, bool keep_graph, bool create_graph, bool accumulate,\
       const void* outputs))                                                                                    \
  row(NextSequenceNumber, "at::sequence_number::get_and_increment", uint64_t,                                   \
      "_ZN2at15sequence_number17get_and_incrementEv",                                                           \
      ())                                                                                                       \
  row(BlasHandle, "cuBLAS workspaces", void*,                                                                  \
      "_ZN2at4cuda24getCurrentCUDABlasHandleEv",                                                                \
      ())                                                                                                       \
  row(AllocateBlasWorkspace, "cuBLAS workspaces", DataPointer,                                                 \
      "_ZN2at4cuda25allocateCUDABlasWorkspaceEm",                                                               \
      (size_t bytes))                                                                                           \
  row(GraphReplay, "at::cuda::CUDAGraph::replay", void,                                                         \
      "_ZN2at4cuda9CUDAGraph6replayEv",                                                                         \
      (void* graph))                                                                                            \
  /* NCCL and DistributedDataParallel: what is communicated */                                                  \
  row(NcclAllReduce, "NCCL collectives", int,                                                                   \
      "ncclAllReduce",                                                                                          \
      (const void* send, void* recv, size_t count, int type, int op, void* comm, void* stream))                 \
  row(NcclReduce, "NCCL collectives", int,                                                                      \
      "ncclReduce",                                                                                             \
      (const void* send, void* recv, size_t count, int type, int op, int root, void* comm, void* stream))       \
  row(NcclBroadcast, "NCCL collectives", int,                                                                   \
      "ncclBroadcast",                                                                                          \
      (const void* send, void* recv, size_t count, int type, int root, void* comm, void* stream))               \
  row(NcclBcast, "NCCL collectives", int,                                                                       \
      "ncclBcast",                                                                                              \
      (void* buffer, size_t count, int type, int root, void* comm, void* stream))                               \
  row(NcclAllGather, "NCCL collectives", int,                                                                   \
      "ncclAllGather",                                                                                          \
      (const void* send, void* recv, size_t count, int type, void* comm, void* stream))                         \
  row(NcclReduceScatter, "NCCL collectives", int,                                                               \
      "ncclReduceScatter",                                                                                      \
      (const void* send, void* recv, size_t count, int type, int op, void* comm, void* stream))                 \
  row(NcclAllToAll, "NCCL collectives", int,                                                                    \
      "ncclAlltoAll",                                                                                           \
      (const void* send, void* recv, size_t count, int type, void* comm, void* stream))                         \
  row(NcclGather, "NCCL collectives", int,                                                                      \
      "ncclGather",                                                                                             \
      (const void* send, void* recv, size_t count, int type, int root, void* comm, void* stream))               \
  row(NcclScatter, "NCCL collectives", int,                                                                     \
      "ncclScatter",                                                                                            \
      (const void* send, void* recv, size_t count, int type, int root, void* comm, void* stream))               \
  row(NcclSend, "NCCL collectives", int,                                                                        \
      "ncclSend",                                                                                               \
      (const void* send, size_t count, int type, int peer, void* comm, void* stream))                           \
  row(NcclRecv, "NCCL collectives", int,                                                                        \
      "ncclRecv",                                                                                               \
      (void* recv, size_t count, int type, int peer, void* comm, void* stream))                                 \
  row(InitializeBuckets, "c10d::Reducer::initialize_buckets", void,                                             \
      "_ZN4c10d7Reducer18initialize_bucketsESt6vectorIS1_ImSaImEESaIS3_EE",                                     \
      (void* reducer, void* indices))                                                                           \
  /* torch::optim of C++ programs */                                                                            \
  row(SGDStep, "torch::optim::SGD::step", TensorResult,                                                         \
      "_ZN5torch5optim3SGD4stepESt8functionIFN2at6TensorEvEE",                                                  \
      (void* optimizer, void* closure))                                                                         \
  row(AdamStep, "torch::optim::Adam::step", TensorResult,                                                       \
      "_ZN5torch5optim4Adam4stepESt8functionIFN2at6TensorEvEE",                                                 \
      (void* optimizer, void* closure))                                                                         \
  row(AdamWStep, "torch::optim::AdamW::step", TensorResult,                                                     \
      "_ZN5torch5optim5AdamW4stepESt8functionIFN2at6TensorEvEE",                                                \
      (void* optimizer, void* closure))                                                                         \
  row(LBFGSStep, "torch::optim::LBFGS::step", TensorResult,                                                     \
      "_ZN5torch5optim5LBFGS4stepESt8functionIFN2at6TensorEvEE",                                                \
      (void* optimizer, void* closure))                                                                         \
  row(AdagradStep, "torch::optim::Adagrad::step", TensorResult,                                                 \
      "_ZN5torch5optim7Adagrad4stepESt8functionIFN2at6TensorEvEE",                                              \
      (void* optimizer, void* closure))                                                                         \
  row(RMSpropStep, "torch::optim::RMSprop::step", TensorResult,                                                 \
      "_ZN5torch5optim7RMSprop4stepESt8functionIFN2at6TensorEvEE",                                              \
      (void* optimizer, void* closure))                                                                         \
  row(OptimizerZeroGrad, "torch::optim::Optimizer::zero_grad", void,                                            \
      "_ZN5torch5optim9Optimizer9zero_gradEb",                                                                  \
      (void* optimizer, bool set_to_none))                                                                      \
  /* torch::nn of C++ programs; Ss and no tag: the old std::string, to 2.6 */                                   \
  row(RegisterParameter, "torch::nn::Module::register_parameter", void*,                                        \
      "_ZN5torch2nn6Module18register_parameterENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEN2at6TensorEb",\
      (void* module, void* name, void* tensor, bool requires_grad))                                             \
  row(RegisterParameterOld, "torch::nn::Module::register_parameter", void*,                                     \
      "_ZN5torch2nn6Module18register_parameterESsN2at6TensorEb",                                                \
      (void* module, void* name, void* tensor, bool requires_grad))                                             \
  row(RegisterBuffer, "torch::nn::Module::register_buffer", void*,                                              \
      "_ZN5torch2nn6Module15register_bufferENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEN2at6TensorE",  \
      (void* module, void* name, void* tensor))                                                                 \
  row(RegisterBufferOld, "torch::nn::Module::register_buffer", void*,                                           \
      "_ZN5torch2nn6Module15register_bufferESsN2at6TensorE",                                                    \
      (void* module, void* name, void* tensor))                                                                 \
  row(NamedParameters, "torch::nn::Module::named_parameters", TensorDictionary,                                 \
      "_ZNK5torch2nn6Module16named_parametersB5cxx11Eb",                                                        \
      (const void* module, bool recurse))                                                                       \
  row(NamedParametersOld, "torch::nn::Module::named_parameters", TensorDictionary,                              \
      "_ZNK5torch2nn6Module16named_parametersEb",                                                               \
      (const void* module, bool recurse))
// clang-format on

VRAMSCOPE_TORCH_HOOKS(VRAMSCOPE_DECLARE_HOOK)

enum class HookId : size_t {
  VRAMSCOPE_TORCH_HOOKS(VRAMSCOPE_NAME_HOOK) kCount,
};
inline constexpr size_t kHookCount = static_cast<size_t>(HookId::kCount);

extern Hook torch_hooks[kHookCount];
extern RealFunctions<HookId, torch_hooks> real_functions;

inline Hook& HookOf(HookId id) { return torch_hooks[static_cast<size_t>(id)]; }

VRAMSCOPE_TORCH_HOOKS(VRAMSCOPE_REAL_FUNCTION)

}  // namespace vramscope::injector
