#include "tasks/embedding/vector_file.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "base/division.h"
#include "base/error.h"

namespace cloze::tasks {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

std::string numpy_header(int64_t rows, int64_t dimensions) {
  constexpr int64_t kAlignment = 64;  // of the first row
  constexpr int64_t kFixedBytes = 10;
  std::string fields = fmt::format(
      "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, dimensions);
  const int64_t bytes = round_up(kFixedBytes + std::ssize(fields) + 1, kAlignment);
  fields.resize(static_cast<size_t>(bytes - kFixedBytes - 1), ' ');
  fields += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
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

void append_json_vector(std::span<const float> vector, std::string& text) {
  const char* between = "[";
  for (const float value : vector) {
    fmt::format_to(std::back_inserter(text), "{}{}", between, value);
    between = ", ";
  }
  text += ']';
}

}  // namespace cloze::tasks
