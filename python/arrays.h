// New NumPy arrays, of which Python is the owner.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>

namespace cloze_python {

namespace nb = nanobind;

// An array of so many numbers, all 0, that ends with the Python object.
template <class Array, class Number>
Array new_array(std::initializer_list<size_t> shape) {
  size_t size = 1;
  for (const size_t extent : shape) size *= extent;
  auto numbers = std::make_unique<Number[]>(size);
  Number* begin = numbers.get();
  const nb::capsule owner(begin, [](void* own) noexcept { delete[] static_cast<Number*>(own); });
  numbers.release();
  return Array(begin, shape, owner);
}

}  // namespace cloze_python
