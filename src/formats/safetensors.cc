#include "formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/division.h"
#include "base/error.h"
#include "formats/json.h"
#include "formats/refusal.h"
#include "platform/files/atomic_file.h"

namespace cloze::formats {
namespace {

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

// Sets the shape; returns its elements.
uint64_t read_shape(const Json& value, Shape& shape) {
  if (!value.is_array()) refuse("its shape is not a list");
  std::vector<int64_t> dims;
  uint64_t elements = 1;
  for (const Json& dim : value) {
    if (!dim.is_number_unsigned()) refuse("its shape holds something that is not a whole number");
    const uint64_t extent = dim.get<uint64_t>();
    if (extent > INT64_MAX || __builtin_mul_overflow(elements, extent, &elements)) {
      refuse("its shape overflows");
    }
    dims.push_back(static_cast<int64_t>(extent));
  }
  shape = Shape(std::move(dims));
  return elements;
}

TensorView read_entry(const std::string& name, const Json& value, std::span<const std::byte> data) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    refuse("it must hold dtype, shape and data_offsets, nothing else");
  }
  const Json& dtype = value["dtype"];
  if (!dtype.is_string()) refuse("its dtype is not a string");
  const std::optional<DType> known = dtype_named(dtype.get<std::string>());
  if (!known) refuse("dtype {} is not supported", dtype.get<std::string>());

  TensorView tensor{.name = name, .dtype = *known};
  const uint64_t elements = read_shape(value["shape"], tensor.shape);
  const Json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    refuse("its data_offsets are not two whole numbers");
  }
  const uint64_t begin = offsets[0].get<uint64_t>();
  const uint64_t end = offsets[1].get<uint64_t>();
  if (begin > end || end > data.size()) {
    refuse("its data_offsets [{}, {}] are outside the {} bytes of data", begin, end, data.size());
  }
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<uint64_t>(bytes_of(*known)), &bytes) ||
      bytes != end - begin) {
    refuse("{} {} does not take the number of bytes that its data_offsets give ({})",
           name_of(*known), tensor.shape.to_string(), end - begin);
  }
  tensor.bytes = data.subspan(begin, bytes);
  return tensor;
}

void check_metadata(const Json& value) {
  if (!value.is_object()) refuse("__metadata__ is not an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse("__metadata__ \"{}\" is not a string", key);
  }
}

// Sorted by offset the tensors must cover the data without holes or overlap.
void check_cover(std::vector<TensorView>& tensors, std::span<const std::byte> data) {
  std::ranges::sort(tensors, {}, [](const TensorView& tensor) {
    return std::pair(tensor.bytes.data(), tensor.bytes.size());
  });
  size_t covered = 0;
  for (const TensorView& tensor : tensors) {
    const auto begin = static_cast<size_t>(tensor.bytes.data() - data.data());
    if (begin != covered) {
      refuse("tensor {} begins at {} of the data where {} was expected", tensor.name, begin,
             covered);
    }
    covered = begin + tensor.bytes.size();
  }
  if (covered != data.size()) {
    refuse("the tensors end at {} of {} bytes of data", covered, data.size());
  }
}

std::vector<TensorView> read_header(const Json& header, std::span<const std::byte> data) {
  if (!header.is_object()) refuse("the header is not an object");
  if (header.size() > kMaxTensors) refuse("more than {} tensors", kMaxTensors);
  std::vector<TensorView> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadataKey) {
      check_metadata(value);
      continue;
    }
    if (name.size() > kMaxNameBytes) {
      refuse("a tensor's name is longer than {} bytes", kMaxNameBytes);
    }
    try {
      tensors.push_back(read_entry(name, value, data));
    } catch (const Refusal& refusal) {
      refuse("tensor {}: {}", name, refusal.message);
    }
  }
  check_cover(tensors, data);
  return tensors;
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
  Json header;
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
  text.resize(round_up(text.size(), kAlignment), ' ');
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
                                  "or not a safetensors file",
                                  header_bytes, limit),
                      0};
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              header_bytes);
  if (!text.starts_with('{')) return ParseError{"the header does not start with {", kLengthBytes};
  const Result<Json> header = parse_json(text);
  if (!header) {
    return ParseError{"header: " + header.error().message, kLengthBytes + header.error().offset};
  }
  try {
    return read_header(*header, file.subspan(kLengthBytes + header_bytes));
  } catch (const Refusal& refusal) {
    return ParseError{refusal.message, kLengthBytes};
  }
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  Result<std::vector<TensorView>> result = parse_safetensors(file_.bytes());
  if (!result) {
    throw_data_error("{} at byte {}: {}", path.string(), result.error().offset,
                     result.error().message);
  }
  tensors_ = std::move(result).value();
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
