#include "checkpoints/tensor_editing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

template <typename T>
TensorView view(const char* name, DType dtype, Shape shape, const std::vector<T>& values) {
  return {name, dtype, std::move(shape), std::as_bytes(std::span(values))};
}

template <typename T>
std::vector<T> values_of(const TensorView& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(ConvertPrecision, RoundsFloatsAndLeavesIntegers) {
  const std::vector<float> floats = {1.0f, 1.0f + 0x1p-12f, -65504.0f};
  const std::vector<int64_t> integers = {7};
  const std::vector<uint16_t> halves = {0x3c00, 0x8001};
  const std::vector<uint16_t> brain = {0x3f80, 0xc040};
  std::vector<TensorView> tensors = {
      view("f", DType::kF32, {3}, floats), view("i", DType::kI64, {1}, integers),
      view("h", DType::kF16, {2}, halves), view("b", DType::kBF16, {2}, brain)};
  TensorStorage storage;
  for (TensorView& tensor : tensors) convert_precision(tensor, DType::kF16, storage);
  EXPECT_EQ(values_of<uint16_t>(tensors[0]), (std::vector<uint16_t>{0x3c00, 0x3c00, 0xfbff}));
  EXPECT_EQ(tensors[1].dtype, DType::kI64);
  EXPECT_EQ(tensors[2].bytes.data(), std::as_bytes(std::span(halves)).data()) << "already there";
  for (TensorView& tensor : tensors) convert_precision(tensor, DType::kF32, storage);
  EXPECT_EQ(values_of<float>(tensors[2]), (std::vector<float>{1.0f, -0x1p-24f}));
  EXPECT_EQ(values_of<float>(tensors[3]), (std::vector<float>{1.0f, -3.0f}));
}

TEST(ConvertPrecision, WhatDoesNotFitIsRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  TensorStorage storage;
  const std::vector<float> infinite = {infinity};
  TensorView fits = view("w", DType::kF32, {1}, infinite);
  EXPECT_NO_THROW(convert_precision(fits, DType::kF16, storage));
  const std::vector<float> large = {1.0f, 70000.0f};
  TensorView tensor = view("w", DType::kF32, {2}, large);
  try {
    convert_precision(tensor, DType::kF16, storage);
    FAIL() << "taken";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "tensor w holds 70000, too large for f16; keep --precision 32");
  }
}

class ResizeVocabularyTest : public testing::Test {
 protected:
  const std::vector<float> table_ = {1, 2, 3, 4, 5, 9};
  const std::vector<float> bias_ = {-1, 0, 4};
  const std::vector<float> other_ = {1, 2, 3};
  std::vector<TensorView> tensors_ = {
      view("embeddings.word_embeddings.weight", DType::kF32, {3, 2}, table_),
      view("cls.predictions.bias", DType::kF32, {3}, bias_),
      view("bert.pooler.dense.bias", DType::kF32, {3}, other_)};
  TensorStorage storage_;
};

TEST_F(ResizeVocabularyTest, CutsRows) {
  EXPECT_EQ(vocabulary_rows(tensors_), 3);
  resize_vocabulary(tensors_, 2, storage_);
  EXPECT_EQ(tensors_[0].shape, (Shape{2, 2}));
  EXPECT_EQ(values_of<float>(tensors_[0]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values_of<float>(tensors_[1]), (std::vector<float>{-1, 0}));
  EXPECT_EQ(values_of<float>(tensors_[2]), other_);
}

TEST_F(ResizeVocabularyTest, AppendsTheMean) {
  resize_vocabulary(tensors_, 5, storage_);
  EXPECT_EQ(values_of<float>(tensors_[0]), (std::vector<float>{1, 2, 3, 4, 5, 9, 3, 5, 3, 5}));
  EXPECT_EQ(values_of<float>(tensors_[1]), (std::vector<float>{-1, 0, 4, 1, 1}));
  EXPECT_EQ(vocabulary_rows(tensors_), 5);
}

TEST_F(ResizeVocabularyTest, OtherSizesAreRefused) {
  tensors_[1].shape = Shape{2};
  EXPECT_THROW(resize_vocabulary(tensors_, 2, storage_), DataError);
  tensors_.erase(tensors_.begin());
  EXPECT_EQ(vocabulary_rows(tensors_), 0);
}

}  // namespace
}  // namespace cloze::checkpoints
