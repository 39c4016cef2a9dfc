// safetensors: named tensors in one file that can be mapped and used in place.
//
//   file    := u64 N, little endian | header, N bytes of JSON, starts with '{', may end in spaces
//              | data
//   header  := {"__metadata__": {text: text}, NAME: {"dtype": "F32", "shape": [..],
//               "data_offsets": [begin, end]}, ...}      offsets count from the start of the data
//
// The tensors, sorted by offset, cover the data exactly: no holes, no overlap. Whatever breaks a
// rule is refused; besides the format's own rules, names are at most 1 KiB and tensors at most a
// million. Data need not be aligned: copy it out before use.
// Source: github.com/huggingface/safetensors README.md, "Format", and tensor.rs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/shape.h"
#include "platform/files/file.h"

namespace cloze::formats {

// A tensor whose bytes, row-major and little endian, lie elsewhere.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::span<const std::byte> bytes;
};

// Null when there is none.
inline const TensorView* find_tensor(std::span<const TensorView> tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &TensorView::name);
  return found == tensors.end() ? nullptr : &*found;
}

// A tensor to be written, wherever its bytes are.
struct TensorSource {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  // Copies the bytes from `offset` on into `target`; both lie within the tensor.
  std::function<void(int64_t offset, std::span<std::byte> target)> read;

  int64_t bytes() const { return shape.elements() * bytes_of(dtype); }
};

// InternalError when the bytes do not fit the shape. The bytes must outlive the source.
TensorSource source_of(const TensorView& tensor);

// Views into `file`, which must outlive them, in the order of their bytes. Errors carry the offset
// in the file. Metadata are checked, but not used.
Result<std::vector<TensorView>> parse_safetensors(std::span<const std::byte> file);

// A file opened for reading; its tensors live as long as it does.
class SafetensorsFile {
 public:
  // DataError that names the file and the offset when the bytes break a rule.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::vector<TensorView>& tensors() const { return tensors_; }
  const TensorView* find(std::string_view name) const { return find_tensor(tensors_, name); }
  const std::filesystem::path& path() const { return path_; }
  // Releases the memory of what was read of the tensors (platform/files/file.h).
  void release_memory() const { file_.release_memory(); }

 private:
  std::filesystem::path path_;
  platform::MappedFile file_;
  std::vector<TensorView> tensors_;
};

// Writes the file whole or not at all, a MiB of a tensor at a time. Tensors are laid out by
// size of element, then by name. The metadata are {"format": "pt"}, which transformers asks for.
// InternalError when a name repeats.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors);
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors);

// Bytes write_safetensors needs at most.
uint64_t safetensors_file_bytes(std::span<const TensorSource> tensors);

}  // namespace cloze::formats
