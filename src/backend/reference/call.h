// Call: one call of a reference kernel, with tensors seen as numbers of type double.
//
// Reference kernels define the correct result. They are templates over the storage type X of
// activations (float, bfloat16, float16, double); all arithmetic is in double, and each output
// element is rounded once, when it is written. Parameters, statistics and losses are stored as
// Parameter<X>. The double form has no rounding between operators: tests compare other kernels with
// it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backend/kernel.h"
#include "base/bfloat16.h"
#include "base/float16.h"

namespace cloze::backend::reference {

// f32 beside activations in f32, bf16 and f16; f64 when everything is in double.
template <typename X>
using Parameter = std::conditional_t<std::is_same_v<X, double>, double, float>;

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;

template <typename T>
double load(T stored) {
  if constexpr (kIsHalf<T>) {
    return static_cast<double>(static_cast<float>(stored));
  } else {
    return static_cast<double>(stored);
  }
}

template <typename T>
T store(double value) {
  if constexpr (kIsHalf<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// A tensor to read, by element or by (row, column); columns is the last extent of the shape.
template <typename T>
class Reader {
 public:
  Reader(const T* data, int64_t columns) : data_(data), columns_(columns) {}
  double operator[](int64_t i) const { return load(data_[i]); }
  double operator()(int64_t row, int64_t column) const { return (*this)[row * columns_ + column]; }

 private:
  const T* data_;
  int64_t columns_;
};

// A parameter that counts as rounded to X, or a copy that was rounded to it.
template <typename X>
class RoundedReader {
 public:
  RoundedReader(const void* data, bool is_copy, int64_t columns)
      : data_(data), is_copy_(is_copy), columns_(columns) {}
  double operator[](int64_t i) const {
    if (is_copy_) return load(static_cast<const X*>(data_)[i]);
    return load(store<X>(load(static_cast<const Parameter<X>*>(data_)[i])));
  }
  double operator()(int64_t row, int64_t column) const { return (*this)[row * columns_ + column]; }

 private:
  const void* data_;
  bool is_copy_;
  int64_t columns_;
};

// A tensor to write; every element is written once. Adds to what is there when `accumulates`.
template <typename T>
class Writer {
 public:
  Writer(T* data, int64_t columns, bool accumulates)
      : data_(data), columns_(columns), accumulates_(accumulates) {}
  void put(int64_t i, double value) const {
    data_[i] = store<T>(accumulates_ ? load(data_[i]) + value : value);
  }
  void put(int64_t row, int64_t column, double value) const { put(row * columns_ + column, value); }

 private:
  T* data_;
  int64_t columns_;
  bool accumulates_;
};

inline int64_t columns_of(const graph::TensorType& type) {
  return type.shape.rank() == 0 ? 1 : type.shape[-1];
}

struct Call {
  const KernelRequest& request;
  const KernelArguments& arguments;

  template <typename T>
  Reader<T> read(size_t i) const {
    return {arguments.input<const T>(i), columns_of(request.inputs[i])};
  }
  template <typename X>
  RoundedReader<X> read_rounded(size_t i) const {
    const bool is_copy = kIsHalf<X> && request.inputs[i].dtype != DType::kF32;
    return {arguments.input<const void>(i), is_copy, columns_of(request.inputs[i])};
  }
  template <typename T>
  Writer<T> write(size_t i) const {
    const bool accumulates = i < request.accumulates.size() && request.accumulates[i];
    return {arguments.output<T>(i), columns_of(request.outputs[i]), accumulates};
  }
  // An input that the operator updates in place.
  template <typename T>
  Writer<T> mutate(size_t i) const {
    return {arguments.input<T>(i), columns_of(request.inputs[i]), false};
  }
  // An output that was written by this call, read back as it is stored.
  template <typename T>
  Reader<T> read_output(size_t i) const {
    return {arguments.output<const T>(i), columns_of(request.outputs[i])};
  }
  const int32_t* integers(size_t i) const { return arguments.input<const int32_t>(i); }
  double* workspace() const { return arguments.workspace.as<double>(); }

  const Shape& input_shape(size_t i) const { return request.inputs[i].shape; }
  const Shape& output_shape(size_t i) const { return request.outputs[i].shape; }
  bool has_input(size_t i) const { return i < request.inputs.size(); }
  bool has_output(size_t i) const { return i < request.outputs.size(); }
  template <typename Attributes>
  const Attributes& attributes() const {
    return request.attributes_as<Attributes>();
  }
};

}  // namespace cloze::backend::reference
