// SPDX-License-Identifier: Apache-2.0
// Records the properties of one operand of an operator: identity, storage, shape, strides, dtype, flags.
// Reading them has no side effects on the tensor.
//
// Tensor's own accessors have side effects. They may call Python (sizes() of a subclass), throw (storage() of
// a fake tensor), copy (mutable_data_ptr()), or create an autograd node (grad_fn() of a view). The accessors
// *_default and unsafe_* only load fields. Symbolic and nested shapes are not recorded. Sources:
// c10/core/TensorImpl.h, c10/core/StorageImpl.h, torch/csrc/autograd/variable.h of torch 2.2.2, 2.6.0 and
// 2.15.0.
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <torch/csrc/autograd/variable.h>

#include <cstdint>

#include "injector/torch/bridge/host.h"
#include "injector/torch/bridge/text_cache.h"

namespace vramscope::bridge {

// Returns the address of a storage's first byte; 0 for meta and fake tensors. The first overload is for torch
// 2.3 and later, where data_ptr() of a copy-on-write storage may throw.
template <typename Storage>
auto StorageBase(Storage* storage, int) -> decltype(storage->_mutable_data_ptr_no_checks(), uint64_t{}) {
  return reinterpret_cast<uint64_t>(storage->_mutable_data_ptr_no_checks().get());
}
template <typename Storage>
uint64_t StorageBase(Storage* storage, long) {
  return reinterpret_cast<uint64_t>(static_cast<const Storage*>(storage)->data_ptr().get());
}

// Returns ScalarType::Undefined if the tensor's type is not a ScalarType; TypeMeta::toScalarType would throw.
inline c10::ScalarType ScalarTypeOf(const c10::TensorImpl& tensor) {
  caffe2::TypeMeta type = tensor.dtype();  // a copy: toScalarType() is not const before 2.8
  return type.isScalarType() ? type.toScalarType() : c10::ScalarType::Undefined;
}

inline uint64_t AutogradFlags(const c10::TensorImpl& tensor) {
  const auto* meta = static_cast<const torch::autograd::AutogradMeta*>(tensor.autograd_meta());
  if (meta == nullptr) return trace::kTensorIsLeaf;
  uint64_t flags = 0;
  if (meta->requires_grad()) flags |= trace::kTensorRequiresGrad;
  if (meta->is_view_) flags |= trace::kTensorIsView;
  if (!meta->grad_fn_) flags |= trace::kTensorIsLeaf;
  return flags;
}

// Records the event kOpTensor. `flags`: 0 for an operand, kTensorIsOutput for a result. Records nothing for
// tensors without a storage: undefined, sparse and opaque tensors, and functorch wrappers. The operators
// inside a functorch transformation record the wrapped tensors.
inline void EmitTensor(const c10::TensorImpl* tensor, uint64_t flags, uint64_t position, TextCache& texts) {
  if (tensor == nullptr || tensor == c10::UndefinedTensorImpl::singleton() || !tensor->has_storage()) return;
  uint32_t shape = 0;
  uint32_t strides = 0;
  uint64_t offset = 0;
  if (!tensor->has_symbolic_sizes_strides() && !tensor->is_nested()) {
    const c10::IntArrayRef sizes = tensor->sizes_default();
    const c10::IntArrayRef steps = tensor->strides_default();
    shape = texts.Id(TextKind::kDims, sizes.data(), sizes.size());
    strides = texts.Id(TextKind::kDims, steps.data(), steps.size());
    offset = static_cast<uint64_t>(tensor->storage_offset_default());
  }
  Emit<trace::EventType::kOpTensor>(flags | AutogradFlags(*tensor), position,
                                    reinterpret_cast<uint64_t>(tensor),
                                    StorageBase(tensor->unsafe_storage().unsafeGetStorageImpl(), 0), offset,
                                    shape, strides, ScalarTypeOf(*tensor));
}

}  // namespace vramscope::bridge
