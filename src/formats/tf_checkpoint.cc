#include "formats/tf_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/refusal.h"
#include "formats/sorted_table.h"
#include "formats/tf_bundle.h"
#include "platform/files/atomic_file.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexSuffix = ".index";
constexpr int32_t kMaxShards = 10'000;
constexpr int kMaxRank = 254;  // TensorFlow's own limit
constexpr int32_t kProducer = 1;

struct TfDType {
  int32_t number;
  const char* name;
  std::optional<DType> dtype;
};
constexpr TfDType kDTypes[] = {
    {1, "float", DType::kF32},        {2, "double", DType::kF64},
    {3, "int32", DType::kI32},        {4, "uint8", DType::kU8},
    {5, "int16", std::nullopt},       {6, "int8", std::nullopt},
    {7, "string", std::nullopt},      {8, "complex64", std::nullopt},
    {9, "int64", DType::kI64},        {10, "bool", std::nullopt},
    {14, "bfloat16", DType::kBF16},   {17, "uint16", std::nullopt},
    {18, "complex128", std::nullopt}, {19, "half", DType::kF16},
    {20, "resource", std::nullopt},   {21, "variant", std::nullopt},
    {22, "uint32", std::nullopt},     {23, "uint64", std::nullopt},
};

const TfDType* dtype_numbered(int32_t number) {
  const auto found = std::ranges::find(kDTypes, number, &TfDType::number);
  return found == std::end(kDTypes) ? nullptr : found;
}

int32_t number_of(DType dtype) {
  const auto found = std::ranges::find(kDTypes, dtype, &TfDType::dtype);
  CLOZE_CHECK(found != std::end(kDTypes), "{} has no number in TensorFlow", name_of(dtype));
  return found->number;
}

fs::path with_suffix(fs::path prefix, std::string_view suffix) {
  prefix += suffix;
  return prefix;
}

fs::path data_file_of(const fs::path& prefix, int32_t shard, int32_t num_shards) {
  return with_suffix(prefix, fmt::format(".data-{:05}-of-{:05}", shard, num_shards));
}

int32_t num_shards_of(const std::vector<TableEntry>& table) {
  const bool has_header = !table.empty() && table[0].key.empty();
  const auto header = has_header ? parse_tf_bundle_header(table[0].value) : std::nullopt;
  if (!header) refuse("is a table, but not of a TensorFlow checkpoint");
  if (header->endianness != 0) refuse("was written in big-endian byte order; save it again");
  if (header->min_consumer > kProducer) {
    refuse("is of version {}; the newest known is {}", header->min_consumer, kProducer);
  }
  if (header->num_shards < 1 || header->num_shards > kMaxShards) {
    refuse("has {} shards; 1 to {} are possible", header->num_shards, kMaxShards);
  }
  return header->num_shards;
}

// Returns the number of elements.
int64_t read_shape(const TfBundleEntry& stored, Shape& shape) {
  if (stored.has_unknown_rank || std::ssize(stored.dims) > kMaxRank) refuse("its shape is unknown");
  int64_t elements = 1;
  for (const int64_t size : stored.dims) {
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) {
      refuse("its shape overflows");
    }
  }
  shape = Shape(stored.dims);
  return elements;
}

TfCheckpointEntry entry_of(const TfBundleEntry& stored, DType dtype, int32_t num_shards) {
  TfCheckpointEntry entry{.dtype = dtype,
                          .shard = stored.shard,
                          .offset = static_cast<uint64_t>(stored.offset),
                          .bytes = static_cast<uint64_t>(stored.bytes),
                          .masked_crc = stored.masked_crc};
  if (stored.has_slices) {
    refuse("is partitioned into slices, which is not supported; save it unpartitioned");
  }
  if (stored.shard < 0 || stored.shard >= num_shards) {
    refuse("is in shard {} of {}", stored.shard, num_shards);
  }
  if (stored.offset < 0 || stored.bytes < 0) refuse("has an offset or a size below zero");
  int64_t bytes = 0;
  if (__builtin_mul_overflow(read_shape(stored, entry.shape), bytes_of(dtype), &bytes) ||
      bytes != stored.bytes) {
    refuse("{} {} does not take {} bytes", name_of(dtype), entry.shape.to_string(), entry.bytes);
  }
  return entry;
}

TensorView view_of(const TfCheckpointEntry& entry, std::span<const std::byte> shard,
                   const fs::path& file) {
  if (entry.offset > shard.size() || entry.bytes > shard.size() - entry.offset) {
    throw_data_error("{} has {} bytes, but {} is at {} to {}; is the file cut short?",
                     file.string(), shard.size(), entry.name, entry.offset,
                     entry.offset + entry.bytes);
  }
  const std::span<const std::byte> bytes = shard.subspan(entry.offset, entry.bytes);
  if (masked_crc32c(bytes) != entry.masked_crc) {
    throw_data_error("{} at byte {}: the CRC of {} does not match its bytes; copy the file again",
                     file.string(), entry.offset, entry.name);
  }
  return {entry.name, entry.dtype, entry.shape, bytes};
}

bool is_index(const fs::path& path) {
  return path.filename().string().ends_with(kIndexSuffix) && fs::is_regular_file(path);
}

// model_checkpoint_path: "NAME" of the file "checkpoint".
std::optional<fs::path> named_in(const fs::path& folder) {
  if (!fs::is_regular_file(folder / "checkpoint")) return std::nullopt;
  const std::string text = platform::read_file(folder / "checkpoint");
  constexpr std::string_view kKey = "model_checkpoint_path: \"";
  const size_t key = text.find(kKey);
  if (key == std::string::npos) return std::nullopt;
  const size_t begin = key + kKey.size();
  const fs::path name = text.substr(begin, text.find_first_of("\"\n", begin) - begin);
  // A folder that was moved still holds its checkpoints; nothing leads out of it.
  const fs::path prefix = folder / name.filename();
  return is_index(with_suffix(prefix, kIndexSuffix)) ? std::optional(prefix) : std::nullopt;
}

std::optional<fs::path> only_one_in(const fs::path& folder) {
  std::optional<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!is_index(entry.path())) continue;
    if (found) {
      throw_user_error("{} holds several checkpoints; name one, such as {}", folder.string(),
                       found->string());
    }
    found = fs::path(entry.path()).replace_extension();
  }
  return found;
}

}  // namespace

TfCheckpointIndex::TfCheckpointIndex(const fs::path& prefix) : prefix_(prefix) {
  const fs::path file = with_suffix(prefix, kIndexSuffix);
  const auto table = parse_sorted_table(platform::MappedFile(file).bytes());
  if (!table) {
    throw_data_error("{} at byte {}: {}", file.string(), table.error().offset,
                     table.error().message);
  }
  std::string name;
  try {
    num_shards_ = num_shards_of(*table);
    for (const TableEntry& row : std::span(*table).subspan(1)) {
      name = row.key;
      const auto stored = parse_tf_bundle_entry(row.value);
      if (!stored) refuse("its entry cannot be read");
      const TfDType* dtype = dtype_numbered(stored->dtype);
      if (dtype != nullptr && dtype->dtype) {
        entries_.push_back(entry_of(*stored, *dtype->dtype, num_shards_));
        entries_.back().name = name;
      } else if (dtype != nullptr) {
        other_entries_.push_back(fmt::format("{} ({})", name, dtype->name));
      } else {
        refuse("is of dtype {}, which is not known", stored->dtype);
      }
    }
  } catch (const Refusal& bad) {
    throw_data_error("{}: {}{}", file.string(), name.empty() ? "" : name + ": ", bad.message);
  }
}

fs::path TfCheckpointIndex::data_file(int32_t shard) const {
  return data_file_of(prefix_, shard, num_shards_);
}

void TfCheckpoint::release_memory() const {
  for (const platform::MappedFile& shard : shards_) shard.release_memory();
}

TfCheckpoint::TfCheckpoint(const fs::path& prefix) : index_(prefix) {
  for (int32_t shard = 0; shard < index_.num_shards(); ++shard) {
    const fs::path file = index_.data_file(shard);
    if (!fs::exists(file)) {
      throw_user_error(
          "{} is missing; it holds the checkpoint's tensors, and the index alone is not enough",
          file.string());
    }
    shards_.emplace_back(file);
  }
  uint64_t bytes_left = 0;
  for (const platform::MappedFile& shard : shards_) bytes_left += shard.bytes().size();
  for (const TfCheckpointEntry& entry : index_.entries()) {
    if (entry.bytes > bytes_left) {
      throw_data_error("{}: the tensors up to {} are larger than the file",
                       index_.data_file(entry.shard).string(), entry.name);
    }
    bytes_left -= entry.bytes;
    tensors_.push_back(view_of(entry, shards_[entry.shard].bytes(), index_.data_file(entry.shard)));
  }
}

std::optional<fs::path> find_tf_checkpoint(const fs::path& path) {
  if (fs::is_directory(path)) {
    const std::optional<fs::path> named = named_in(path);
    return named ? named : only_one_in(path);
  }
  if (is_index(with_suffix(path, kIndexSuffix))) return path;
  const std::string name = path.filename().string();
  for (const std::string_view mark : {".index", ".meta", ".data-"}) {
    const size_t end = name.rfind(mark);
    if (end == std::string::npos || end == 0) continue;
    const fs::path prefix = path.parent_path() / name.substr(0, end);
    if (is_index(with_suffix(prefix, kIndexSuffix))) return prefix;
  }
  return std::nullopt;
}

void write_tf_checkpoint(const fs::path& prefix, std::span<const TensorView> tensors) {
  std::map<std::string_view, const TensorView*> by_name;
  for (const TensorView& tensor : tensors) {
    CLOZE_CHECK(by_name.emplace(tensor.name, &tensor).second, "tensor {} is given twice",
                tensor.name);
  }
  std::vector<TableEntry> table = {
      {"", tf_bundle_record(TfBundleHeader{.num_shards = 1, .producer = kProducer})}};
  platform::AtomicFile data(data_file_of(prefix, 0, 1));
  int64_t offset = 0;
  for (const auto& [name, tensor] : by_name) {
    const int64_t bytes = tensor->shape.elements() * bytes_of(tensor->dtype);
    CLOZE_CHECK(bytes == std::ssize(tensor->bytes), "tensor {} has {} bytes instead of {}", name,
                tensor->bytes.size(), bytes);
    const std::span<const int64_t> dims = tensor->shape.dims();
    table.push_back({std::string(name),
                     tf_bundle_record(TfBundleEntry{.dtype = number_of(tensor->dtype),
                                                    .dims = {dims.begin(), dims.end()},
                                                    .offset = offset,
                                                    .bytes = bytes,
                                                    .masked_crc = masked_crc32c(tensor->bytes)})});
    data.write(tensor->bytes.data(), tensor->bytes.size());
    offset += bytes;
  }
  data.commit();
  platform::write_file_atomically(with_suffix(prefix, kIndexSuffix), sorted_table_text(table));
  const std::string name = prefix.filename().string();
  platform::write_file_atomically(
      prefix.parent_path() / "checkpoint",
      fmt::format("model_checkpoint_path: \"{0}\"\nall_model_checkpoint_paths: \"{0}\"\n", name));
}

}  // namespace cloze::formats
