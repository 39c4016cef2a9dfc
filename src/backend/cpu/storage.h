// The types in which activations are stored: a new one is a line in with_storage() and one in
// is_storage().
#pragma once

#include <string>
#include <type_traits>

#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/float16.h"

namespace cloze::backend::cpu {

template <class T>
using Storage = std::type_identity<T>;

// What visit(Storage<T>()) returns for the type T that stores this dtype:
//   with_storage(dtype, [&]<class T>(Storage<T>) { AddPart<T>(arguments, part); });
template <class Visit>
auto with_storage(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kF32:
      return visit(Storage<float>());
    case DType::kBF16:
      return visit(Storage<bfloat16>());
    case DType::kF16:
      return visit(Storage<float16>());
    default:
      throw InternalError("activations are not stored in " + std::string(name_of(dtype)));
  }
}

// The address of element i.
inline void* element(void* tensor, DType dtype, int64_t i) {
  return static_cast<char*>(tensor) + i * bytes_of(dtype);
}

inline bool is_storage(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

}  // namespace cloze::backend::cpu
