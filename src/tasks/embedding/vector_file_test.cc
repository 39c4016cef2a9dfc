#include "tasks/embedding/vector_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/error.h"
#include "platform/files/own_folder_test.h"

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

class VectorReadingTest : public platform::OwnFolderTest {
 protected:
  std::string refusal(const std::string& bytes) {
    std::filesystem::remove(file());
    std::ofstream(file(), std::ios::binary) << bytes;
    try {
      read_vectors(file());
    } catch (const UserError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(file().string() + ": "));
      return std::string(error.what()).substr(file().string().size() + 2);
    }
    return "taken";
  }
  static std::string file_of(int64_t rows, int64_t dimensions, const std::vector<float>& values) {
    std::string bytes = vectors_start(VectorForm::kNumpy, rows, dimensions);
    append_vector(VectorForm::kNumpy, values, bytes);
    return bytes;
  }
  std::filesystem::path file() const { return folder_ / "vectors.npy"; }
};

TEST_F(VectorReadingTest, WhatIsWrittenIsReadAgain) {
  EXPECT_EQ(refusal(file_of(2, 3, {1, 2, 3, 4, 5, 6})), "taken");
  const Vectors read = read_vectors(file());
  EXPECT_EQ(read.rows, 2);
  EXPECT_EQ(read.dimensions, 3);
  EXPECT_EQ(read.values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read.row(1)[0], 4.0f);
}

TEST_F(VectorReadingTest, AnythingElseIsRefused) {
  const std::string good = file_of(2, 3, {1, 2, 3, 4, 5, 6});
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(refusal(good.substr(0, size)), "taken") << size;
  }
  EXPECT_EQ(refusal(good + "1234"),
            "2 rows of 3 numbers are not its 28 bytes after the header; it was cut, or is of "
            "something else");
  EXPECT_EQ(refusal("\x93NUMPY\x02" + good.substr(7)), "not a .npy file of version 1.0");
  EXPECT_EQ(refusal(file_of(1, 1, {std::numeric_limits<float>::infinity()})),
            "a number is not finite");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string bytes = good;
    bytes.replace(bytes.find(from), from.size(), to);
    return refusal(bytes);
  };
  EXPECT_EQ(with("<f4", "<f8"), "not an array of float32 in rows");
  EXPECT_EQ(with("False", "True "), "not an array of float32 in rows");
  for (const char* shape : {"(6,   ", "(0, 3)", "(2, -)", "(2; 3)"}) {
    EXPECT_EQ(with("(2, 3)", shape),
              "not an array of rows: two numbers of its shape, from 1 on, are missing");
  }
  EXPECT_NE(refusal(file_of(int64_t{1} << 61, int64_t{1} << 61, {1})), "taken");
  EXPECT_THROW(read_vectors(folder_ / "vectors.bin"), UserError);
  // A flipped bit is refused, or one of a number.
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    refusal(bytes);
  }
}

}  // namespace
}  // namespace cloze::tasks
