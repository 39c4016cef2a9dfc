// Files of vectors, one row for each text, by the ending of their name:
//
//   .npy     NumPy's array of shape [rows, dimensions], float32, as numpy.load() reads it
//   .jsonl   a line for each row: [0.125, -0.5, ...], each number as short as reads back the same
//   .bin     the rows alone, float32
//
// Numbers are little endian. The first is also read. Source: numpy/lib/format.py (version 1.0).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cloze::tasks {

enum class VectorForm { kNumpy, kJsonLines, kBinary };

// UserError for a name with another ending.
VectorForm vector_form_of(const std::filesystem::path& file);

// The bytes before the rows.
std::string vectors_start(VectorForm form, int64_t rows, int64_t dimensions);
// Appends a row.
void append_vector(VectorForm form, std::span<const float> vector, std::string& bytes);
// Appends "[0.125, -0.5]".
void append_json_vector(std::span<const float> vector, std::string& text);

// Vectors in memory, a row each.
struct Vectors {
  int64_t rows = 0;
  int64_t dimensions = 0;
  std::vector<float> values;  // [rows, dimensions]

  std::span<const float> row(int64_t i) const {
    return std::span(values).subspan(static_cast<size_t>(i * dimensions),
                                     static_cast<size_t>(dimensions));
  }
};
// Reads a .npy of float32. UserError for a name with another ending; DataError that names the file
// when its bytes are no such array, or a number is not finite.
Vectors read_vectors(const std::filesystem::path& file);

}  // namespace cloze::tasks
