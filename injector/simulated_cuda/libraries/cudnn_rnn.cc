// SPDX-License-Identifier: Apache-2.0
// cuDNN's recurrent networks. PyTorch reads back the position of each matrix within the weights, so sizes and
// addresses have to be consistent. TensorFlow reads descriptors back.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "injector/simulated_cuda/abi.h"

namespace {

struct Rnn {
  int cell = 0;  // 0 ReLU, 1 tanh, 2 LSTM, 3 GRU
  bool has_bias = true;
  bool bidirectional = false;
  int type = 0;
  int input = 0, hidden = 0, projection = 0, layers = 1;
  // Only for cudnnGetRNNDescriptor_v8:
  int algorithm = 0, bias = 0, input_mode = 0, math_precision = 0, math_type = 0;
  void* dropout = nullptr;
  unsigned flags = 0;
};

constexpr int kLstm = 2, kGru = 3;

int Gates(const Rnn& rnn) { return rnn.cell == kLstm ? 4 : rnn.cell == kGru ? 3 : 1; }
int Directions(const Rnn& rnn) { return rnn.bidirectional ? 2 : 1; }
bool IsProjected(const Rnn& rnn) { return rnn.projection != 0 && rnn.projection != rnn.hidden; }
int Output(const Rnn& rnn) { return IsProjected(rnn) ? rnn.projection : rnn.hidden; }

// cudnnDataType_t: float, double, half, int8, ..., bfloat16 = 9.
uint64_t BytesOf(int type) { return type == 1 ? 8 : type == 0 ? 4 : 2; }

struct Place {
  uint64_t offset = 0;  // in elements
  int rows = 0, columns = 0;
};

// The elements of one pseudo-layer's matrices: per gate one for the input and one for the state, then the
// projection.
uint64_t MatrixElements(const Rnn& rnn, int layer) {
  const uint64_t input =
      static_cast<uint64_t>(layer < Directions(rnn) ? rnn.input : Output(rnn) * Directions(rnn));
  const uint64_t of_gate = static_cast<uint64_t>(rnn.hidden) * (input + static_cast<uint64_t>(Output(rnn)));
  const uint64_t projection =
      IsProjected(rnn) ? static_cast<uint64_t>(rnn.projection) * static_cast<uint64_t>(rnn.hidden) : 0;
  return static_cast<uint64_t>(Gates(rnn)) * of_gate + projection;
}

uint64_t BiasElements(const Rnn& rnn) {
  return rnn.has_bias ? uint64_t{2} * static_cast<uint64_t>(Gates(rnn)) * static_cast<uint64_t>(rnn.hidden)
                      : 0;
}

int PseudoLayers(const Rnn& rnn) { return rnn.layers * Directions(rnn); }

// `id`: gates of the input, gates of the state, then the projection.
Place Matrix(const Rnn& rnn, int layer, int id) {
  Place place;
  for (int before = 0; before < layer; ++before) place.offset += MatrixElements(rnn, before);
  const int gates = Gates(rnn);
  const int input = layer < Directions(rnn) ? rnn.input : Output(rnn) * Directions(rnn);
  const auto hidden = static_cast<uint64_t>(rnn.hidden);
  place.rows = rnn.hidden;
  place.columns = id < gates ? input : Output(rnn);
  const auto earlier_inputs = static_cast<uint64_t>(id < gates ? id : gates);
  const auto earlier_states = static_cast<uint64_t>(id < gates ? 0 : id - gates);
  place.offset += hidden * (earlier_inputs * static_cast<uint64_t>(input) +
                            earlier_states * static_cast<uint64_t>(Output(rnn)));
  if (id == 2 * gates) {
    place.rows = IsProjected(rnn) ? rnn.projection : 0;
    place.columns = rnn.hidden;
  }
  return place;
}

Place Bias(const Rnn& rnn, int layer, int id) {
  Place place;
  if (!rnn.has_bias || id >= 2 * Gates(rnn)) return place;
  for (int i = 0; i < PseudoLayers(rnn); ++i) place.offset += MatrixElements(rnn, i);
  place.offset += BiasElements(rnn) * static_cast<uint64_t>(layer) +
                  static_cast<uint64_t>(id) * static_cast<uint64_t>(rnn.hidden);
  place.rows = rnn.hidden;
  place.columns = 1;
  return place;
}

uint64_t WeightElements(const Rnn& rnn) {
  uint64_t elements = 0;
  for (int layer = 0; layer < PseudoLayers(rnn); ++layer)
    elements += MatrixElements(rnn, layer) + BiasElements(rnn);
  return elements;
}

}  // namespace

extern "C" int cudnnSetTensorNdDescriptor(void*, int, int, const int*, const int*);

namespace {

// The caller may request neither the descriptor nor the address.
void Tell(const Rnn& rnn, const Place& place, char* weights, void* descriptor, void** address) {
  if (address != nullptr) *address = place.rows != 0 ? weights + place.offset * BytesOf(rnn.type) : nullptr;
  if (descriptor == nullptr) return;
  const int sizes[3] = {1, place.rows, place.columns};
  const int strides[3] = {place.rows * place.columns, place.columns, 1};
  cudnnSetTensorNdDescriptor(descriptor, rnn.type, 3, sizes, strides);
}

}  // namespace

SIMULATED_EXPORT int cudnnCreateRNNDescriptor(Rnn** rnn) {
  *rnn = new Rnn;
  return 0;
}
SIMULATED_EXPORT int cudnnDestroyRNNDescriptor(Rnn* rnn) {
  delete rnn;
  return 0;
}
SIMULATED_EXPORT int cudnnSetRNNDescriptor_v8(Rnn* rnn, int algorithm, int cell, int bias, int direction,
                                              int input_mode, int type, int math_precision, int math_type,
                                              int input, int hidden, int projection, int layers,
                                              void* dropout, unsigned flags) {
  *rnn = {cell,      bias != 0, direction == 1, type,           input,     hidden,  projection, layers,
          algorithm, bias,      input_mode,     math_precision, math_type, dropout, flags};
  return 0;
}

namespace {

template <typename Value>
void Give(Value value, Value* where) {
  if (where != nullptr) *where = value;
}

}  // namespace

// Any of the places may be null.
SIMULATED_EXPORT int cudnnGetRNNDescriptor_v8(const Rnn* rnn, int* algorithm, int* cell, int* bias,
                                              int* direction, int* input_mode, int* type, int* math_precision,
                                              int* math_type, int* input, int* hidden, int* projection,
                                              int* layers, void** dropout, unsigned* flags) {
  Give(rnn->algorithm, algorithm);
  Give(rnn->cell, cell);
  Give(rnn->bias, bias);
  Give(rnn->bidirectional ? 1 : 0, direction);
  Give(rnn->input_mode, input_mode);
  Give(rnn->type, type);
  Give(rnn->math_precision, math_precision);
  Give(rnn->math_type, math_type);
  Give(rnn->input, input);
  Give(rnn->hidden, hidden);
  Give(rnn->projection, projection);
  Give(rnn->layers, layers);
  Give(rnn->dropout, dropout);
  Give(rnn->flags, flags);
  return 0;
}

SIMULATED_EXPORT int cudnnGetRNNWeightSpaceSize(void*, const Rnn* rnn, size_t* bytes) {
  *bytes = WeightElements(*rnn) * BytesOf(rnn->type);
  return 0;
}

SIMULATED_EXPORT int cudnnGetRNNWeightParams(void*, const Rnn* rnn, int layer, size_t, void* weights, int id,
                                             void* matrix, void** matrix_address, void* bias,
                                             void** bias_address) {
  Tell(*rnn, Matrix(*rnn, layer, id), static_cast<char*>(weights), matrix, matrix_address);
  Tell(*rnn, Bias(*rnn, layer, id), static_cast<char*>(weights), bias, bias_address);
  return 0;
}

namespace {

// cudnnRNNDataDescriptor_t
struct RnnData {
  int type = 0, layout = 0, steps = 0, batch = 0, vector = 0;
  std::vector<int> lengths;  // of the sequences of the batch
  double padding = 0;
};

// The padding value has the type of the data; only its bytes are copied.
uint64_t PaddingBytes(const RnnData& data) { return std::min<uint64_t>(BytesOf(data.type), sizeof(double)); }

}  // namespace

SIMULATED_EXPORT int cudnnCreateRNNDataDescriptor(RnnData** data) {
  *data = new RnnData;
  return 0;
}
SIMULATED_EXPORT int cudnnDestroyRNNDataDescriptor(RnnData* data) {
  delete data;
  return 0;
}
SIMULATED_EXPORT int cudnnSetRNNDataDescriptor(RnnData* data, int type, int layout, int steps, int batch,
                                               int vector, const int* lengths, const void* padding) {
  *data = {type, layout, steps, batch, vector, {}, 0};
  if (lengths != nullptr && batch > 0) data->lengths.assign(lengths, lengths + batch);
  if (padding != nullptr) std::memcpy(&data->padding, padding, PaddingBytes(*data));
  return 0;
}

// Gives at most `asked` lengths.
SIMULATED_EXPORT int cudnnGetRNNDataDescriptor(const RnnData* data, int* type, int* layout, int* steps,
                                               int* batch, int* vector, int asked, int* lengths,
                                               void* padding) {
  Give(data->type, type);
  Give(data->layout, layout);
  Give(data->steps, steps);
  Give(data->batch, batch);
  Give(data->vector, vector);
  const auto count = std::min<size_t>(static_cast<size_t>(std::max(asked, 0)), data->lengths.size());
  if (lengths != nullptr) std::copy_n(data->lengths.begin(), count, lengths);
  if (padding != nullptr) std::memcpy(padding, &data->padding, PaddingBytes(*data));
  return 0;
}

// cuDNN does not document its sizes. The formulas reproduce the published sizes (pytorch/pytorch, issue 2895,
// cuDNN 7 on a P100). Reserve: 736,000,000 bytes for an LSTM, 864,000,000 for a GRU. Workspace: 17,730,560
// and 13,169,920. The issue names 4 layers of 320, and 123 inputs. Backward keeps 5 or 6 vectors of each step
// and layer, and the output of every layer but the last, for 25,000 steps x samples. A workspace has the
// matrices again and 3 x gates - 1 vectors of a step, if the batch was 100. Newer releases and other
// algorithms may differ.
SIMULATED_EXPORT int cudnnGetRNNTempSpaceSizes(void*, const Rnn* rnn, int mode, const RnnData* data,
                                               size_t* workspace, size_t* reserve) {
  constexpr int kTraining = 1;
  const auto count = [](int value) { return static_cast<uint64_t>(value); };
  uint64_t matrices = 0;
  for (int layer = 0; layer < PseudoLayers(*rnn); ++layer) matrices += MatrixElements(*rnn, layer);
  const uint64_t vectors = count(data->batch) * count(rnn->hidden) * count(PseudoLayers(*rnn));
  const uint64_t between =
      count(data->batch) * count(Output(*rnn)) * count(PseudoLayers(*rnn) - Directions(*rnn));
  const int kept = rnn->cell == kLstm ? 5 : rnn->cell == kGru ? 6 : 1;
  if (workspace != nullptr)
    *workspace = (matrices + vectors * count(3 * Gates(*rnn) - 1)) * BytesOf(rnn->type);
  if (reserve != nullptr) {
    const uint64_t of_step = (vectors * count(kept) + between) * BytesOf(rnn->type);
    *reserve = mode == kTraining ? of_step * count(data->steps) : 0;
  }
  return 0;
}

// One random generator state for each resident thread of a large GPU; cuDNN does not document the number.
SIMULATED_EXPORT int cudnnDropoutGetStatesSize(void*, size_t* bytes) {
  *bytes = 5 << 20;
  return 0;
}
