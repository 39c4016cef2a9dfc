#include "formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::formats {
namespace {

using nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kMaxTensors = 1'000'000;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kAlignment = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

using DTypeName = std::pair<DType, std::string_view>;
constexpr DTypeName kDTypeNames[] = {
    {DType::kF32, "F32"}, {DType::kBF16, "BF16"}, {DType::kF16, "F16"}, {DType::kF64, "F64"},
    {DType::kI32, "I32"}, {DType::kI64, "I64"},   {DType::kU8, "U8"},
};

std::string_view format_name(DType dtype) {
  const auto found = std::ranges::find(kDTypeNames, dtype, &DTypeName::first);
  CLOZE_CHECK(found != std::end(kDTypeNames), "{} has no name in safetensors", name_of(dtype));
  return found->second;
}

std::optional<DType> dtype_named(std::string_view wanted) {
  const auto found = std::ranges::find(kDTypeNames, wanted, &DTypeName::second);
  return found == std::end(kDTypeNames) ? std::nullopt : std::optional(found->first);
}

// A tensor as the header tells it; begin and end count from the start of the data.
struct Entry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// What is wrong with a header entry; the offset is added by the caller.
using Fault = std::optional<std::string>;

Fault parse_shape(const json& value, Entry& entry, uint64_t& elements) {
  if (!value.is_array()) return "its shape is not a list";
  std::vector<int64_t> dims;
  elements = 1;
  for (const json& dim : value) {
    if (!dim.is_number_unsigned()) return "its shape holds something that is not a whole number";
    const uint64_t extent = dim.get<uint64_t>();
    if (extent > INT64_MAX || __builtin_mul_overflow(elements, extent, &elements)) {
      return "its shape overflows";
    }
    dims.push_back(static_cast<int64_t>(extent));
  }
  entry.shape = Shape(std::move(dims));
  return std::nullopt;
}

Fault parse_entry(const json& value, uint64_t data_bytes, Entry& entry) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return "it must hold dtype, shape and data_offsets, nothing else";
  }
  const json& dtype = value["dtype"];
  if (!dtype.is_string()) return "its dtype is not a string";
  const std::optional<DType> known = dtype_named(dtype.get<std::string>());
  if (!known) return fmt::format("dtype {} is not supported", dtype.get<std::string>());
  entry.dtype = *known;

  uint64_t elements = 0;
  if (Fault fault = parse_shape(value["shape"], entry, elements)) return fault;
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return "its data_offsets are not two whole numbers";
  }
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  if (entry.begin > entry.end || entry.end > data_bytes) {
    return fmt::format("its data_offsets [{}, {}] lie outside the {} bytes of data", entry.begin,
                       entry.end, data_bytes);
  }
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<uint64_t>(bytes_of(entry.dtype)), &bytes) ||
      bytes != entry.end - entry.begin) {
    return fmt::format("{} {} needs another number of bytes than its data_offsets give ({})",
                       name_of(entry.dtype), entry.shape.to_string(), entry.end - entry.begin);
  }
  return std::nullopt;
}

Fault check_metadata(const json& value) {
  if (!value.is_object()) return "__metadata__ is not an object";
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return fmt::format("__metadata__ \"{}\" is not a string", key);
  }
  return std::nullopt;
}

// Sorted by offset the tensors must cover the data without holes or overlap.
Fault check_cover(std::vector<Entry>& entries, uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered) {
      return fmt::format("tensor {} begins at {} of the data where {} was expected", entry.name,
                         entry.begin, covered);
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    return fmt::format("the tensors end at {} of {} bytes of data", covered, data_bytes);
  }
  return std::nullopt;
}

Fault parse_header(const json& header, uint64_t data_bytes, std::vector<Entry>& entries) {
  if (!header.is_object()) return "the header is not an object";
  if (header.size() > kMaxTensors) return fmt::format("more than {} tensors", kMaxTensors);
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadataKey) {
      if (Fault fault = check_metadata(value)) return fault;
      continue;
    }
    if (name.size() > kMaxNameBytes) {
      return fmt::format("a tensor's name is longer than {} bytes", kMaxNameBytes);
    }
    Entry entry{.name = name};
    if (Fault fault = parse_entry(value, data_bytes, entry)) {
      return fmt::format("tensor {}: {}", name, *fault);
    }
    entries.push_back(std::move(entry));
  }
  return check_cover(entries, data_bytes);
}

std::vector<TensorSource> layout_order(std::span<const TensorSource> tensors) {
  std::vector<TensorSource> ordered(tensors.begin(), tensors.end());
  std::sort(ordered.begin(), ordered.end(), [](const TensorSource& a, const TensorSource& b) {
    const int64_t a_bytes = bytes_of(a.dtype);
    const int64_t b_bytes = bytes_of(b.dtype);
    return a_bytes != b_bytes ? a_bytes > b_bytes : a.name < b.name;
  });
  return ordered;
}

std::string header_text(std::span<const TensorSource> tensors) {
  nlohmann::ordered_json header;
  header[kMetadataKey]["format"] = "pt";
  uint64_t offset = 0;
  for (const TensorSource& tensor : tensors) {
    const uint64_t end = offset + static_cast<uint64_t>(tensor.bytes());
    header[tensor.name] = {{"dtype", format_name(tensor.dtype)},
                           {"shape", tensor.shape.dims()},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_line(header);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

void check_names(std::span<const TensorSource> tensors) {
  std::set<std::string_view> names;
  for (const TensorSource& tensor : tensors) {
    CLOZE_CHECK(names.insert(tensor.name).second, "tensor {} is given twice", tensor.name);
  }
}

void write_tensor(const TensorSource& tensor, std::vector<std::byte>& part,
                  platform::AtomicFile& file) {
  constexpr int64_t kPartBytes = 1 << 20;
  for (int64_t offset = 0; offset < tensor.bytes(); offset += std::ssize(part)) {
    part.resize(static_cast<size_t>(std::min(kPartBytes, tensor.bytes() - offset)));
    tensor.read(offset, part);
    file.write(part.data(), part.size());
  }
}

}  // namespace

Result<std::vector<TensorView>> parse_safetensors(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    return ParseError{fmt::format("{} bytes are too few for a safetensors file", file.size()), 0};
  }
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), kLengthBytes);
  const uint64_t limit = std::min<uint64_t>(kMaxHeaderBytes, file.size() - kLengthBytes);
  if (header_bytes > limit) {
    return ParseError{fmt::format("header of {} bytes where at most {} fit; the file is cut short "
                                  "or no safetensors file",
                                  header_bytes, limit),
                      0};
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              header_bytes);
  if (!text.starts_with('{')) return ParseError{"the header does not start with {", kLengthBytes};
  const Result<json> header = parse_json(text);
  if (!header) {
    return ParseError{"header: " + header.error().message, kLengthBytes + header.error().offset};
  }
  const std::span<const std::byte> data = file.subspan(kLengthBytes + header_bytes);
  std::vector<Entry> entries;
  std::vector<TensorView> tensors;
  if (Fault fault = parse_header(*header, data.size(), entries)) {
    return ParseError{*fault, kLengthBytes};
  }
  for (Entry& entry : entries) {
    tensors.push_back({.name = std::move(entry.name),
                       .dtype = entry.dtype,
                       .shape = std::move(entry.shape),
                       .bytes = data.subspan(entry.begin, entry.end - entry.begin)});
  }
  return tensors;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  Result<std::vector<TensorView>> result = parse_safetensors(file_.bytes());
  if (!result) {
    throw_data_error("{} at byte {}: {}", path.string(), result.error().offset,
                     result.error().message);
  }
  tensors_ = std::move(result).value();
  for (size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

TensorSource source_of(const TensorView& tensor) {
  TensorSource source{.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape};
  CLOZE_CHECK(std::ssize(tensor.bytes) == source.bytes(), "tensor {} {} has {} bytes instead of {}",
              tensor.name, tensor.shape.to_string(), tensor.bytes.size(), source.bytes());
  source.read = [bytes = tensor.bytes](int64_t offset, std::span<std::byte> target) {
    std::ranges::copy(bytes.subspan(static_cast<size_t>(offset), target.size()), target.begin());
  };
  return source;
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors) {
  check_names(tensors);
  const std::vector<TensorSource> ordered = layout_order(tensors);
  const std::string header = header_text(ordered);
  const uint64_t header_bytes = header.size();
  platform::AtomicFile file(path);
  file.write(&header_bytes, sizeof header_bytes);
  file.write(header);
  std::vector<std::byte> part;
  for (const TensorSource& tensor : ordered) write_tensor(tensor, part, file);
  file.commit();
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors) {
  std::vector<TensorSource> sources;
  for (const TensorView& tensor : tensors) sources.push_back(source_of(tensor));
  write_safetensors(path, sources);
}

uint64_t safetensors_file_bytes(std::span<const TensorSource> tensors) {
  constexpr uint64_t kEntryBytes = 160;  // a header entry without its name
  uint64_t bytes = kLengthBytes + kAlignment + kEntryBytes;
  for (const TensorSource& tensor : tensors) {
    bytes += kEntryBytes + 6 * tensor.name.size() + static_cast<uint64_t>(tensor.bytes());
  }
  return bytes;
}

}  // namespace cloze::formats
