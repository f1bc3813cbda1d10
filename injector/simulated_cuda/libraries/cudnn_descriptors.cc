// SPDX-License-Identifier: Apache-2.0
// cuDNN's handle, and the tensors and filters that PyTorch describes and reads back.
#include <algorithm>
#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace {

constexpr int kMostDimensions = 8;

struct Handle {
  void* stream = nullptr;
};

struct Tensor {
  int type = 0;
  int layout = 0;  // of filters
  int count = 0;
  int sizes[kMostDimensions] = {};
  int strides[kMostDimensions] = {};
};

void Put(int* to, const int* from, int count) {
  if (to != nullptr && from != nullptr) std::copy_n(from, count, to);
}

}  // namespace

SIMULATED_EXPORT int cudnnCreate(Handle** handle) {
  *handle = new Handle;
  return 0;
}
SIMULATED_EXPORT int cudnnDestroy(Handle* handle) {
  delete handle;
  return 0;
}
SIMULATED_EXPORT int cudnnSetStream(Handle* handle, void* stream) {
  handle->stream = stream;
  return 0;
}
SIMULATED_EXPORT int cudnnGetStream(Handle* handle, void** stream) {
  *stream = handle->stream;
  return 0;
}

SIMULATED_EXPORT int cudnnCreateTensorDescriptor(Tensor** tensor) {
  *tensor = new Tensor;
  return 0;
}
SIMULATED_EXPORT int cudnnDestroyTensorDescriptor(Tensor* tensor) {
  delete tensor;
  return 0;
}
SIMULATED_EXPORT int cudnnSetTensorNdDescriptor(Tensor* tensor, int type, int count, const int* sizes,
                                                const int* strides) {
  tensor->type = type;
  tensor->count = std::min(count, kMostDimensions);
  Put(tensor->sizes, sizes, tensor->count);
  Put(tensor->strides, strides, tensor->count);
  return 0;
}
SIMULATED_EXPORT int cudnnGetTensorNdDescriptor(const Tensor* tensor, int requested, int* type, int* count,
                                                int* sizes, int* strides) {
  *type = tensor->type;
  *count = tensor->count;
  Put(sizes, tensor->sizes, std::min(requested, tensor->count));
  Put(strides, tensor->strides, std::min(requested, tensor->count));
  return 0;
}

SIMULATED_EXPORT int cudnnCreateFilterDescriptor(Tensor** filter) {
  return cudnnCreateTensorDescriptor(filter);
}
SIMULATED_EXPORT int cudnnDestroyFilterDescriptor(Tensor* filter) {
  return cudnnDestroyTensorDescriptor(filter);
}
SIMULATED_EXPORT int cudnnSetFilterNdDescriptor(Tensor* filter, int type, int layout, int count,
                                                const int* sizes) {
  filter->layout = layout;
  return cudnnSetTensorNdDescriptor(filter, type, count, sizes, nullptr);
}
SIMULATED_EXPORT int cudnnGetFilterNdDescriptor(const Tensor* filter, int requested, int* type, int* layout,
                                                int* count, int* sizes) {
  *layout = filter->layout;
  return cudnnGetTensorNdDescriptor(filter, requested, type, count, sizes, nullptr);
}
