#include "tasks/embedding/vector_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.h"

namespace cloze::tasks {
namespace {

using namespace std::string_literals;

TEST(VectorFile, ANameEndsWithItsForm) {
  EXPECT_EQ(vector_form_of("a/vectors.npy"), VectorForm::kNumpy);
  EXPECT_EQ(vector_form_of("vectors.jsonl"), VectorForm::kJsonLines);
  EXPECT_EQ(vector_form_of("vectors.bin"), VectorForm::kBinary);
  try {
    vector_form_of("vectors.csv");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "vectors.csv ends with \".csv\", which names no form of vectors; end it with .npy, "
        ".jsonl or .bin");
  }
}

// The bytes that numpy.save writes before the rows of an array of this shape.
TEST(VectorFile, BeginsAsNumpysFilesDo) {
  const std::string start = vectors_start(VectorForm::kNumpy, 12, 384);
  const std::string fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 384), }";
  EXPECT_EQ(start, "\x93NUMPY\x01\x00\x76\x00"s + fields +
                       std::string(118 - fields.size() - 1, ' ') + "\n");
  for (const int64_t rows : {int64_t{1}, int64_t{999'999'999'999}}) {
    EXPECT_EQ(vectors_start(VectorForm::kNumpy, rows, 7).size() % 64, 0u);
  }
  EXPECT_EQ(vectors_start(VectorForm::kJsonLines, 12, 384), "");
  EXPECT_EQ(vectors_start(VectorForm::kBinary, 12, 384), "");
}

TEST(VectorFile, WritesRows) {
  const std::vector<float> row{0.1f, -2.0f, 1e-10f};
  std::string text, bytes;
  append_vector(VectorForm::kJsonLines, row, text);
  EXPECT_EQ(text, "[0.1, -2, 1e-10]\n");
  append_vector(VectorForm::kNumpy, row, bytes);
  append_vector(VectorForm::kBinary, row, bytes);
  ASSERT_EQ(bytes.size(), 24u);
  EXPECT_EQ(std::memcmp(bytes.data(), row.data(), 12), 0);
  EXPECT_EQ(bytes.substr(0, 12), bytes.substr(12));
}

}  // namespace
}  // namespace cloze::tasks
