#include "checkpoints/tensorflow_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

constexpr std::string_view kWordTable = "bert/embeddings/word_embeddings";
constexpr std::string_view kWordPartStart = "bert/embeddings/s";
constexpr std::string_view kWordPartEnd = "/word_embeddings";
constexpr std::string_view kFusedKernel = "/attention/self/kernel/qkv_weight";
constexpr std::string_view kFusedBias = "/attention/self/qkv_bias";
constexpr std::array<const char*, 3> kQkv = {"query", "key", "value"};

// The matrix [rows, columns] of `source`, whose rows are `stride` elements apart, as
// [columns, rows].
void transpose(const std::byte* source, int64_t rows, int64_t columns, int64_t stride, size_t width,
               std::byte* target) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      std::memcpy(target + static_cast<size_t>(column * rows + row) * width,
                  source + static_cast<size_t>(row * stride + column) * width, width);
    }
  }
}

void require_matrix(const TensorView& tensor) {
  if (tensor.shape.rank() != 2) {
    throw_data_error("tensor {} is {}, where a matrix is expected", tensor.name,
                     tensor.shape.to_string());
  }
}

// Collects tensors under their new names.
class Converter {
 public:
  void add(TensorView tensor) {
    if (!names_.insert(tensor.name).second) {
      throw_data_error("tensor {} is there in two forms; remove one", tensor.name);
    }
    result_.tensors.push_back(std::move(tensor));
  }
  void add(const TensorView& tensor, const OtherName& other) {
    TensorView view = tensor;
    view.name = other.name;
    if (other.is_transposed) {
      require_matrix(tensor);
      view = transposed_block(tensor, other.name, 0, tensor.shape[1]);
    }
    add(std::move(view));
  }
  // Columns [begin, begin + count) of a matrix, transposed.
  TensorView transposed_block(const TensorView& tensor, std::string name, int64_t begin,
                              int64_t count) {
    const auto width = static_cast<size_t>(bytes_of(tensor.dtype));
    const int64_t rows = tensor.shape[0];
    auto& bytes = allocate(static_cast<size_t>(rows * count) * width);
    transpose(tensor.bytes.data() + static_cast<size_t>(begin) * width, rows, count,
              tensor.shape[1], width, bytes.data());
    return {std::move(name), tensor.dtype, Shape{count, rows}, bytes};
  }
  std::vector<std::byte>& allocate(size_t bytes) { return result_.storage.emplace_back(bytes); }
  // Rows of matrices, one below the other.
  TensorView joined(std::string name, std::span<const TensorView* const> parts) {
    int64_t rows = 0;
    for (const TensorView* part : parts) {
      require_matrix(*part);
      if (part->shape[1] != parts[0]->shape[1] || part->dtype != parts[0]->dtype) {
        throw_data_error("tensors {} and {} are not parts of one tensor: {} {} and {} {}",
                         parts[0]->name, part->name, name_of(parts[0]->dtype),
                         parts[0]->shape.to_string(), name_of(part->dtype),
                         part->shape.to_string());
      }
      rows += part->shape[0];
    }
    size_t size = 0;
    for (const TensorView* part : parts) size += part->bytes.size();
    auto& bytes = allocate(size);
    auto* end = bytes.data();
    for (const TensorView* part : parts) {
      end = std::copy(part->bytes.begin(), part->bytes.end(), end);
    }
    return {std::move(name), parts[0]->dtype, Shape{rows, parts[0]->shape[1]}, bytes};
  }
  ConvertedTensors& result() { return result_; }

 private:
  ConvertedTensors result_;
  std::set<std::string> names_;
};

// The i of bert/embeddings/s{i}/word_embeddings.
std::optional<int64_t> word_part(std::string_view name) {
  if (!name.starts_with(kWordPartStart) || !name.ends_with(kWordPartEnd)) return std::nullopt;
  name.remove_prefix(kWordPartStart.size());
  name.remove_suffix(std::min(name.size(), kWordPartEnd.size()));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

std::string qkv_name(std::string_view fused_name, std::string_view fused_end, const char* part,
                     const char* kind) {
  const std::string layer(fused_name.substr(0, fused_name.size() - fused_end.size()));
  return fmt::format("{}/attention/self/{}/{}", layer, part, kind);
}

[[noreturn]] void refuse_thirds(const TensorView& tensor) {
  throw_data_error("tensor {} is {}, where three equal parts are expected", tensor.name,
                   tensor.shape.to_string());
}

// A third of a fused tensor is known by the name of the separate one.
std::optional<std::string> third_name(const TensorView& tensor, std::string_view end,
                                      const char* part, const char* kind) {
  const auto other = hugging_face_name(qkv_name(tensor.name, end, part, kind));
  return other ? std::optional(other->name) : std::nullopt;
}

bool add_fused(const TensorView& tensor, Converter& converter) {
  const bool is_kernel = tensor.name.ends_with(kFusedKernel);
  if (!is_kernel && !tensor.name.ends_with(kFusedBias)) return false;
  if (tensor.shape.rank() != (is_kernel ? 2 : 1) || tensor.shape[-1] % 3 != 0) {
    refuse_thirds(tensor);
  }
  const int64_t count = tensor.shape[-1] / 3;
  for (int64_t i = 0; i < 3; ++i) {
    const auto name = is_kernel ? third_name(tensor, kFusedKernel, kQkv[i], "kernel")
                                : third_name(tensor, kFusedBias, kQkv[i], "bias");
    if (!name) return false;
    if (is_kernel) {
      converter.add(converter.transposed_block(tensor, *name, i * count, count));
    } else {
      const auto bytes = static_cast<size_t>(count * bytes_of(tensor.dtype));
      converter.add({*name, tensor.dtype, Shape{count},
                     tensor.bytes.subspan(static_cast<size_t>(i) * bytes, bytes)});
    }
  }
  return true;
}

void add_word_parts(const std::map<int64_t, const TensorView*>& parts, Converter& converter) {
  std::vector<const TensorView*> in_order;
  for (const auto& [number, part] : parts) {
    if (number != std::ssize(in_order)) {
      throw_data_error("{}{}{} is missing: there are {} parts, the last is {}", kWordPartStart,
                       in_order.size(), kWordPartEnd, parts.size(), parts.rbegin()->first);
    }
    in_order.push_back(part);
  }
  converter.add(converter.joined(hugging_face_name(kWordTable)->name, in_order));
}

// "bert.encoder.layer.0.attention.self." of its query's weight.
std::optional<std::string> self_attention_of(std::string_view name) {
  constexpr std::string_view kEnd = "query.weight";
  if (!name.ends_with(".self.query.weight")) return std::nullopt;
  return std::string(name.substr(0, name.size() - kEnd.size()));
}

// Adds the kernel [H, 3H] of a layer; names what it took.
void add_fused_kernel(std::span<const TensorView> tensors, const std::string& attention,
                      Converter& converter, std::set<std::string>& taken) {
  std::vector<const TensorView*> parts;
  for (const char* part : kQkv) {
    parts.push_back(formats::find_tensor(tensors, fmt::format("{}{}.weight", attention, part)));
    if (parts.back() == nullptr) return;
  }
  const TensorView rows = converter.joined("", parts);
  const std::string query =
      tensorflow_name(parts[0]->name, TensorflowNames::kGraphcore).value().name;
  const std::string layer = query.substr(0, query.rfind("/attention/"));
  converter.add(
      converter.transposed_block(rows, layer + std::string(kFusedKernel), 0, rows.shape[1]));
  for (const TensorView* part : parts) taken.insert(part->name);
}

void add_word_tables(const TensorView& table, int64_t count, Converter& converter) {
  require_matrix(table);
  const int64_t rows = table.shape[0] / count;
  if (table.shape[0] % count != 0) {
    throw_user_error("{} word embeddings cannot be split into {} equal tables; choose a divisor",
                     table.shape[0], count);
  }
  const size_t bytes = table.bytes.size() / static_cast<size_t>(count);
  for (int64_t i = 0; i < count; ++i) {
    converter.add({fmt::format("{}{}{}", kWordPartStart, i, kWordPartEnd), table.dtype,
                   Shape{rows, table.shape[1]},
                   table.bytes.subspan(static_cast<size_t>(i) * bytes, bytes)});
  }
}

}  // namespace

bool has_tensorflow_names(std::span<const TensorView> tensors) {
  return std::ranges::any_of(tensors, [](const TensorView& tensor) {
    return tensor.name.find('/') != std::string::npos || tensor.name == "output_weights";
  });
}

ConvertedTensors from_tensorflow(std::span<const TensorView> tensors) {
  Converter converter;
  std::map<int64_t, const TensorView*> word_parts;
  for (const TensorView& tensor : tensors) {
    if (is_training_state(tensor.name)) {
      converter.result().training_state.push_back(tensor.name);
    } else if (const auto part = word_part(tensor.name)) {
      if (!word_parts.emplace(*part, &tensor).second) {
        throw_data_error("tensor {} is there in two forms; remove one", tensor.name);
      }
    } else if (const auto other = hugging_face_name(tensor.name)) {
      converter.add(tensor, *other);
    } else if (!add_fused(tensor, converter)) {
      converter.result().unknown.push_back(tensor.name);
    }
  }
  if (!word_parts.empty()) add_word_parts(word_parts, converter);
  return std::move(converter.result());
}

ConvertedTensors moments_from_tensorflow(std::span<const TensorView> tensors) {
  ConvertedTensors moments;
  for (const char moment : {'m', 'v'}) {
    std::vector<TensorView> slots;
    for (const TensorView& tensor : tensors) {
      const auto slot = moment_slot(tensor.name);
      if (!slot || slot->moment != moment) continue;
      slots.push_back(tensor);
      slots.back().name = slot->tensor;
    }
    ConvertedTensors converted = from_tensorflow(slots);
    for (TensorView& tensor : converted.tensors) {
      tensor.name = fmt::format("optimizer.{}.{}", moment, tensor.name);
      moments.tensors.push_back(std::move(tensor));
    }
    std::ranges::move(converted.storage, std::back_inserter(moments.storage));
    std::ranges::move(converted.unknown, std::back_inserter(moments.unknown));
  }
  return moments;
}

ConvertedTensors to_tensorflow(std::span<const TensorView> tensors,
                               const TensorflowLayout& layout) {
  Converter converter;
  std::set<std::string> taken;
  for (const TensorView& tensor : tensors) {
    const auto attention = self_attention_of(tensor.name);
    if (layout.fuses_qkv && attention) add_fused_kernel(tensors, *attention, converter, taken);
  }
  for (const TensorView& tensor : tensors) {
    if (taken.contains(tensor.name)) continue;
    const auto other = tensorflow_name(tensor.name, layout.names);
    if (!other) {
      converter.result().unknown.push_back(tensor.name);
    } else if (other->name == kWordTable && layout.num_word_tables > 1) {
      add_word_tables(tensor, layout.num_word_tables, converter);
    } else {
      converter.add(tensor, *other);
    }
  }
  return std::move(converter.result());
}

}  // namespace cloze::checkpoints
