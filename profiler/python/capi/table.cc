// SPDX-License-Identifier: Apache-2.0
#include "profiler/python/capi/table.h"

#include <array>
#include <cerrno>
#include <limits>
#include <new>
#include <stdexcept>

#include "profiler/text/harmless.h"

namespace vramscope::python {
namespace {

// What an exported schema owns. Its children are released with it, unless the receiver has moved them away.
struct SchemaOwner {
  std::string name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> pointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

template <typename Struct>
void ReleaseIfThere(Struct* exported) {
  if (exported != nullptr && exported->release != nullptr) exported->release(exported);
}

void ReleaseSchema(ArrowSchema* schema) {
  const std::unique_ptr<SchemaOwner> owner(static_cast<SchemaOwner*>(schema->private_data));
  for (ArrowSchema* child : owner->pointers) ReleaseIfThere(child);
  ReleaseIfThere(owner->dictionary.get());
  schema->release = nullptr;
}

std::unique_ptr<ArrowSchema> MakeSchema(const std::string& name, const char* format, int64_t flags,
                                        std::unique_ptr<SchemaOwner> owner) {
  owner->name = name;
  for (const auto& child : owner->children) owner->pointers.push_back(child.get());
  auto schema = std::make_unique<ArrowSchema>();
  *schema = {.format = format,
             .name = owner->name.c_str(),
             .metadata = nullptr,
             .flags = flags,
             .n_children = static_cast<int64_t>(owner->pointers.size()),
             .children = owner->pointers.data(),
             .dictionary = owner->dictionary.get(),
             .release = ReleaseSchema,
             .private_data = owner.get()};
  owner.release();
  return schema;
}

std::unique_ptr<ArrowSchema> SchemaOf(const Column& column) {
  auto owner = std::make_unique<SchemaOwner>();
  if (column.dictionary() != nullptr)
    owner->dictionary = MakeSchema("", "u", kArrowNullable, std::make_unique<SchemaOwner>());
  return MakeSchema(column.name(), column.format(), kArrowNullable, std::move(owner));
}

struct ArrayOwner {
  std::shared_ptr<const Table> table;
  std::array<const void*, 3> buffers = {};
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
  std::unique_ptr<ArrowArray> dictionary;
};

void ReleaseArray(ArrowArray* array) {
  const std::unique_ptr<ArrayOwner> owner(static_cast<ArrayOwner*>(array->private_data));
  for (ArrowArray* child : owner->pointers) ReleaseIfThere(child);
  ReleaseIfThere(owner->dictionary.get());
  array->release = nullptr;
}

std::unique_ptr<ArrowArray> MakeArray(int64_t length, int64_t missing, int64_t buffers,
                                      std::unique_ptr<ArrayOwner> owner) {
  for (const auto& child : owner->children) owner->pointers.push_back(child.get());
  auto array = std::make_unique<ArrowArray>();
  *array = {.length = length,
            .null_count = missing,
            .offset = 0,
            .n_buffers = buffers,
            .n_children = static_cast<int64_t>(owner->pointers.size()),
            .buffers = owner->buffers.data(),
            .children = owner->pointers.data(),
            .dictionary = owner->dictionary.get(),
            .release = ReleaseArray,
            .private_data = owner.get()};
  owner.release();
  return array;
}

std::unique_ptr<ArrowArray> ArrayOf(const std::shared_ptr<const Table>& table, const Dictionary& dictionary) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->table = table;
  owner->buffers = {nullptr, dictionary.offsets.data(), dictionary.bytes.data()};
  return MakeArray(dictionary.size(), 0, 3, std::move(owner));
}

std::unique_ptr<ArrowArray> ArrayOf(const std::shared_ptr<const Table>& table, const Column& column) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->table = table;
  owner->buffers = {column.validity(), column.values(), nullptr};
  if (column.dictionary() != nullptr) owner->dictionary = ArrayOf(table, *column.dictionary());
  return MakeArray(column.rows(), column.missing(), 2, std::move(owner));
}

struct StreamOwner {
  std::shared_ptr<const Table> table;
  bool sent = false;
};

// Runs `body` for a receiver that calls us, so that no exception reaches its code.
template <typename Body>
int Answer(const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int SchemaOfStream(ArrowArrayStream* stream, ArrowSchema* out) {
  const auto* owner = static_cast<StreamOwner*>(stream->private_data);
  return Answer([&] { ExportSchema(*owner->table, out); });
}

int NextOfStream(ArrowArrayStream* stream, ArrowArray* out) {
  auto* owner = static_cast<StreamOwner*>(stream->private_data);
  *out = {};
  if (owner->sent) return 0;  // an array without `release` is the end
  owner->sent = true;
  return Answer([&] { ExportArray(owner->table, out); });
}

const char* ErrorOfStream(ArrowArrayStream*) { return "there is not enough memory for this table"; }

void ReleaseStream(ArrowArrayStream* stream) {
  delete static_cast<StreamOwner*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

int32_t TextColumn::CodeOf(std::string_view text) {
  const auto found = code_of_text_.find(std::string(text));
  if (found != code_of_text_.end()) return found->second;
  const std::string clean = text::Clean(text);
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  if (clean.size() > kMost - dictionary_.bytes.size())
    throw std::length_error("the names of this table have more than 2 GiB");
  dictionary_.bytes += clean;
  dictionary_.offsets.push_back(static_cast<int32_t>(dictionary_.bytes.size()));
  const auto code = static_cast<int32_t>(dictionary_.size() - 1);
  code_of_text_.emplace(text, code);
  return code;
}

void ExportSchema(const Table& table, ArrowSchema* out) {
  auto owner = std::make_unique<SchemaOwner>();
  for (const auto& column : table.columns()) owner->children.push_back(SchemaOf(*column));
  *out = *MakeSchema("", "+s", 0, std::move(owner));
}

void ExportArray(const std::shared_ptr<const Table>& table, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->table = table;
  for (const auto& column : table->columns()) owner->children.push_back(ArrayOf(table, *column));
  *out = *MakeArray(table->rows(), 0, 1, std::move(owner));
}

void ExportStream(const std::shared_ptr<const Table>& table, ArrowArrayStream* out) {
  auto owner = std::make_unique<StreamOwner>(StreamOwner{table});
  *out = {.get_schema = SchemaOfStream,
          .get_next = NextOfStream,
          .get_last_error = ErrorOfStream,
          .release = ReleaseStream,
          .private_data = owner.release()};
}

}  // namespace vramscope::python
