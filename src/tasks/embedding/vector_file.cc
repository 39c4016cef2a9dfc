#include "tasks/embedding/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/division.h"
#include "base/error.h"
#include "base/whole_number.h"
#include "platform/files/file.h"

namespace cloze::tasks {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

constexpr std::string_view kNumpyStart("\x93NUMPY\x01\x00", 8);
constexpr int64_t kNumpyFields = 10;  // where they begin, after two bytes of their length

// Numbers of a header's "(12, 384)"; nothing for another shape.
std::optional<Vectors> shape_in(std::string_view fields) {
  constexpr std::string_view kBefore = "'shape': (";
  const size_t at = fields.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  fields.remove_prefix(at + kBefore.size());
  const size_t comma = fields.find(", "), end = fields.find(')');
  if (comma == std::string_view::npos || end == std::string_view::npos || comma + 2 > end) {
    return std::nullopt;
  }
  const auto rows = number_in<int64_t>(fields.substr(0, comma));
  const auto dimensions = number_in<int64_t>(fields.substr(comma + 2, end - comma - 2));
  if (!rows || !dimensions || *rows < 1 || *dimensions < 1) return std::nullopt;
  return Vectors{.rows = *rows, .dimensions = *dimensions};
}

std::string numpy_header(int64_t rows, int64_t dimensions) {
  constexpr int64_t kAlignment = 64;  // of the first row
  std::string fields = fmt::format(
      "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, dimensions);
  const int64_t bytes = round_up(kNumpyFields + std::ssize(fields) + 1, kAlignment);
  fields.resize(static_cast<size_t>(bytes - kNumpyFields - 1), ' ');
  fields += '\n';
  std::string header(kNumpyStart);
  header += static_cast<char>(fields.size() & 0xff);
  header += static_cast<char>(fields.size() >> 8);
  return header + fields;
}

}  // namespace

VectorForm vector_form_of(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".npy") return VectorForm::kNumpy;
  if (ending == ".jsonl") return VectorForm::kJsonLines;
  if (ending == ".bin") return VectorForm::kBinary;
  throw_user_error(
      "{} ends with \"{}\", which names no form of vectors; end it with .npy, .jsonl or .bin",
      file.string(), ending);
}

std::string vectors_start(VectorForm form, int64_t rows, int64_t dimensions) {
  return form == VectorForm::kNumpy ? numpy_header(rows, dimensions) : std::string();
}

void append_vector(VectorForm form, std::span<const float> vector, std::string& bytes) {
  if (form != VectorForm::kJsonLines) {
    bytes.append(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
    return;
  }
  append_json_vector(vector, bytes);
  bytes += '\n';
}

Vectors read_vectors(const std::filesystem::path& file) {
  if (vector_form_of(file) != VectorForm::kNumpy) {
    throw_user_error("{} is no .npy; write one with cloze embed --output-file vectors.npy",
                     file.string());
  }
  const platform::MappedFile mapped(file);
  const std::string_view bytes = mapped.text();
  const auto refuse = [&](std::string_view why) { throw_data_error("{}: {}", file.string(), why); };
  if (bytes.size() < kNumpyFields || !bytes.starts_with(kNumpyStart)) {
    refuse("not a .npy file of version 1.0");
  }
  const size_t start = kNumpyFields + static_cast<uint8_t>(bytes[8]) +
                       256 * static_cast<size_t>(static_cast<uint8_t>(bytes[9]));
  const std::string_view fields = bytes.substr(kNumpyFields, start - kNumpyFields);
  if (fields.find("'descr': '<f4'") == std::string_view::npos ||
      fields.find("'fortran_order': False") == std::string_view::npos) {
    refuse("not an array of float32 in rows");
  }
  std::optional<Vectors> vectors = shape_in(fields);
  if (!vectors) refuse("not an array of rows: two numbers of its shape, from 1 on, are missing");
  const size_t held = (bytes.size() - std::min(start, bytes.size())) / sizeof(float);
  const auto rows = static_cast<size_t>(vectors->rows);
  const auto dimensions = static_cast<size_t>(vectors->dimensions);
  if (rows > held / dimensions || rows * dimensions * sizeof(float) != bytes.size() - start) {
    throw_data_error(
        "{}: {} rows of {} numbers are not its {} bytes after the header; it was cut, "
        "or is of something else",
        file.string(), rows, dimensions, bytes.size() - std::min(start, bytes.size()));
  }
  vectors->values.resize(rows * dimensions);
  std::memcpy(vectors->values.data(), bytes.data() + start, bytes.size() - start);
  if (!std::ranges::all_of(vectors->values, [](float value) { return std::isfinite(value); })) {
    refuse("a number is not finite");
  }
  return std::move(*vectors);
}

void append_json_vector(std::span<const float> vector, std::string& text) {
  const char* between = "[";
  for (const float value : vector) {
    fmt::format_to(std::back_inserter(text), "{}{}", between, value);
    between = ", ";
  }
  text += ']';
}

}  // namespace cloze::tasks
