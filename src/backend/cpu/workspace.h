// Workspace: the buffers of a kernel in the memory it is given, one after the other, each at the
// start of a cache line. Built on a null pointer, a struct of buffers reports through bytes() what
// its buffers need, so that the same code gives size and use:
//
//   struct Buffers {
//     Buffers(int64_t n, void* memory) : workspace(memory), rows(workspace.take<float>(n)) {}
//     Workspace workspace;
//     float* rows;
//   };
//   Buffers(n, nullptr).workspace.bytes()
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/division.h"

namespace cloze::backend::cpu {

inline constexpr int64_t kLineBytes = 64;  // of a cache
// What a buffer of so many bytes takes.
inline size_t whole_lines(size_t bytes) {
  constexpr size_t kLine = kLineBytes;
  return round_up(bytes, kLine);
}

class Workspace {
 public:
  explicit Workspace(void* memory) : begin_(reinterpret_cast<uintptr_t>(memory)), next_(begin_) {}

  template <typename T>
  T* take(int64_t count) {
    const size_t bytes = whole_lines(static_cast<size_t>(count) * sizeof(T));
    return reinterpret_cast<T*>(std::exchange(next_, next_ + bytes));
  }
  size_t bytes() const { return next_ - begin_; }  // taken so far

 private:
  uintptr_t begin_;
  uintptr_t next_;
};

}  // namespace cloze::backend::cpu
