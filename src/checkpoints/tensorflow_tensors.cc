#include "checkpoints/tensorflow_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/whole_number.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

constexpr std::string_view kWordTable = "bert/embeddings/word_embeddings";
constexpr std::string_view kWordPartStart = "bert/embeddings/s";
constexpr std::string_view kWordPartEnd = "/word_embeddings";
constexpr std::string_view kFusedKernel = "/attention/self/kernel/qkv_weight";
constexpr std::string_view kFusedBias = "/attention/self/qkv_bias";
constexpr std::string_view kFusedGlu = "/convolution/pre/dense/";
constexpr std::string_view kGlu = ".convolution.glu.";
constexpr std::array<const char*, 2> kHalves = {"gates", "values"};  // of the rows of our tensor
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

// All extents the other way round.
void reverse(const TensorView& source, std::byte* target) {
  const auto width = static_cast<size_t>(bytes_of(source.dtype));
  const int64_t first = source.shape[0], middle = source.shape[1], last = source.shape[2];
  for (int64_t i = 0; i < first; ++i) {
    for (int64_t j = 0; j < middle; ++j) {
      for (int64_t k = 0; k < last; ++k) {
        std::memcpy(target + static_cast<size_t>((k * middle + j) * first + i) * width,
                    source.bytes.data() + static_cast<size_t>((i * middle + j) * last + k) * width,
                    width);
      }
    }
  }
}

void require_rank(const TensorView& tensor, int64_t rank) {
  if (tensor.shape.rank() == rank) return;
  throw_data_error("tensor {} is {}, where a {} is expected", tensor.name, tensor.shape.to_string(),
                   rank == 1 ? "vector" : "matrix");
}
void require_matrix(const TensorView& tensor) { require_rank(tensor, 2); }

// Collects tensors under their new names.
class Converter {
 public:
  void add(TensorView tensor) {
    if (!names_.insert(tensor.name).second) {
      throw_data_error("tensor {} is stored in two forms; remove one", tensor.name);
    }
    result_.tensors.push_back(std::move(tensor));
  }
  void add(const TensorView& tensor, const OtherName& other) {
    TensorView view = tensor;
    const bool is_convolution = tensor.shape.rank() == 3;
    // Our convolution, one token wide, becomes a matrix; their matrix becomes a convolution.
    if (other.layout == StoredLayout::kOneTokenWide && is_convolution) {
      view.shape = {tensor.shape[0], tensor.shape[1] * tensor.shape[2]};
    }
    if (other.layout == StoredLayout::kTransposed && is_convolution) {
      auto& bytes = allocate(tensor.bytes.size());
      reverse(tensor, bytes.data());
      view.shape = {tensor.shape[2], tensor.shape[1], tensor.shape[0]};
      view.bytes = bytes;
    } else if (other.layout != StoredLayout::kSame) {
      require_matrix(view);
      view = transposed_block(view, other.name, 0, view.shape[1]);
      if (other.layout == StoredLayout::kOneTokenWide && !is_convolution) {
        view.shape = {view.shape[0], view.shape[1], 1};
      }
    }
    view.name = other.name;
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
  // Rows of matrices, one below the other, or elements of vectors.
  TensorView joined(std::string name, std::span<const TensorView* const> parts) {
    Shape shape = parts[0]->shape;
    int64_t rows = 0;
    for (const TensorView* part : parts) {
      if (part->shape.rank() != 1) require_matrix(*part);
      const bool fits = part->shape.rank() == shape.rank() &&
                        part->shape.elements() * shape[0] == shape.elements() * part->shape[0];
      if (!fits || part->dtype != parts[0]->dtype) {
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
    shape = shape.rank() == 1 ? Shape{rows} : Shape{rows, shape[1]};
    return {std::move(name), parts[0]->dtype, std::move(shape), bytes};
  }
  // Takes out what was added under that name.
  std::optional<TensorView> take(const std::string& name) {
    const auto found = std::ranges::find(result_.tensors, name, &TensorView::name);
    if (found == result_.tensors.end()) return std::nullopt;
    TensorView tensor = *found;
    result_.tensors.erase(found);
    names_.erase(name);
    return tensor;
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
  const std::optional<int64_t> number = number_in<int64_t>(name);
  return number && *number >= 0 ? number : std::nullopt;
}

// Columns of a fused kernel or elements of a fused bias: equal parts, each as if it were the tensor
// of that name. False where there is no such tensor in a model.
bool add_parts(const TensorView& tensor, const std::vector<std::string>& names, bool is_kernel,
               Converter& converter) {
  if (tensor.shape.rank() != (is_kernel ? 2 : 1) || tensor.shape[-1] % std::ssize(names) != 0) {
    throw_data_error("tensor {} is {}, where {} equal parts are expected", tensor.name,
                     tensor.shape.to_string(), names.size() == 2 ? "two" : "three");
  }
  const int64_t count = tensor.shape[-1] / std::ssize(names);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto other = hugging_face_name(names[i]);
    if (!other) return false;
    if (is_kernel) {
      const int64_t begin = static_cast<int64_t>(i) * count;
      converter.add(converter.transposed_block(tensor, other->name, begin, count));
    } else {
      const auto bytes = static_cast<size_t>(count * bytes_of(tensor.dtype));
      converter.add(
          {other->name, tensor.dtype, Shape{count}, tensor.bytes.subspan(i * bytes, bytes)});
    }
  }
  return true;
}

bool add_fused_qkv(const TensorView& tensor, Converter& converter) {
  const bool is_kernel = tensor.name.ends_with(kFusedKernel);
  if (!is_kernel && !tensor.name.ends_with(kFusedBias)) return false;
  const size_t end = is_kernel ? kFusedKernel.size() : kFusedBias.size();
  const std::string layer = tensor.name.substr(0, tensor.name.size() - end);
  std::vector<std::string> names;
  for (const char* part : kQkv) {
    names.push_back(
        fmt::format("{}/attention/self/{}/{}", layer, part, is_kernel ? "kernel" : "bias"));
  }
  return add_parts(tensor, names, is_kernel, converter);
}

// Values first.
bool add_fused_glu(const TensorView& tensor, Converter& converter) {
  const size_t at = tensor.name.find(kFusedGlu);
  if (at == std::string::npos) return false;
  const std::string kind = tensor.name.substr(at + kFusedGlu.size());
  if (kind != "kernel" && kind != "bias") return false;
  std::vector<std::string> names;
  for (const char* half : {kHalves[1], kHalves[0]}) {
    names.push_back(
        fmt::format("{}/convolution/pre/glu/{}/dense/{}", tensor.name.substr(0, at), half, kind));
  }
  return add_parts(tensor, names, kind == "kernel", converter);
}

// Gates and values become one tensor.
void join_glu(Converter& converter) {
  std::vector<std::string> gates;
  for (const TensorView& tensor : converter.result().tensors) {
    if (tensor.name.find(std::string(kGlu) + kHalves[0]) != std::string::npos) {
      gates.push_back(tensor.name);
    }
  }
  for (const std::string& name : gates) {
    const size_t at = name.find(kGlu) + kGlu.size();
    const std::string kind = name.substr(name.rfind('.') + 1);
    const std::string values_name = fmt::format("{}{}.{}", name.substr(0, at), kHalves[1], kind);
    const auto gate = converter.take(name), value = converter.take(values_name);
    if (!value) throw_data_error("tensor {} is present, but not {}", name, values_name);
    const TensorView* parts[] = {&*gate, &*value};
    converter.add(converter.joined(name.substr(0, at) + kind, parts));
  }
}

// Programs that do not train the bias of the key, which changes no softmax, may not store it.
void add_key_biases(Converter& converter) {
  std::vector<TensorView> missing;
  for (const TensorView& tensor : converter.result().tensors) {
    constexpr std::string_view kQueryBias = ".self.query.bias";
    if (!tensor.name.ends_with(kQueryBias)) continue;
    const std::string key =
        tensor.name.substr(0, tensor.name.size() - kQueryBias.size()) + ".self.key.bias";
    if (formats::find_tensor(converter.result().tensors, key) != nullptr) continue;
    missing.push_back(tensor);
    missing.back().name = key;
  }
  for (TensorView& bias : missing) {
    bias.bytes = converter.allocate(bias.bytes.size());  // zeros
    converter.add(std::move(bias));
  }
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

std::string name_in(TensorflowNames names, std::string graphcore_name) {
  return names == TensorflowNames::kResearch ? research_name(graphcore_name) : graphcore_name;
}

// Adds the kernel [H, 3H] of a layer, and the names of the tensors it used to `taken`.
void add_fused_kernel(std::span<const TensorView> tensors, const std::string& attention,
                      TensorflowNames names, Converter& converter, std::set<std::string>& taken) {
  std::vector<const TensorView*> parts;
  for (const char* part : kQkv) {
    parts.push_back(formats::find_tensor(tensors, fmt::format("{}{}.weight", attention, part)));
    if (parts.back() == nullptr) return;
  }
  const TensorView rows = converter.joined("", parts);
  const std::string query =
      tensorflow_name(parts[0]->name, TensorflowNames::kGraphcore).value().name;
  const std::string layer = query.substr(0, query.rfind("/attention/"));
  converter.add(converter.transposed_block(rows, name_in(names, layer + std::string(kFusedKernel)),
                                           0, rows.shape[1]));
  for (const TensorView* part : parts) taken.insert(part->name);
}

// A gated linear unit [2H, ...], gates first, in its two halves, or fused with the values first.
void add_glu(const TensorView& tensor, TensorflowNames names, Converter& converter) {
  const size_t at = tensor.name.find(kGlu) + kGlu.size();
  const std::string kind = tensor.name.substr(at);
  require_rank(tensor, kind == "bias" ? 1 : 2);
  const int64_t rows = tensor.shape[0] / 2;
  std::array<TensorView, 2> halves;
  for (size_t i = 0; i < 2; ++i) {
    halves[i] = tensor;
    halves[i].name = fmt::format("{}{}.{}", tensor.name.substr(0, at), kHalves[i], kind);
    halves[i].shape = kind == "bias" ? Shape{rows} : Shape{rows, tensor.shape[1]};
    halves[i].bytes = tensor.bytes.subspan(i * tensor.bytes.size() / 2, tensor.bytes.size() / 2);
  }
  const OtherName first = tensorflow_name(halves[0].name, TensorflowNames::kGraphcore).value();
  if (names != TensorflowNames::kResearch) {
    for (const TensorView& half : halves) converter.add(half, *tensorflow_name(half.name, names));
    return;
  }
  const TensorView* parts[] = {&halves[1], &halves[0]};
  std::string fused = first.name;
  fused.replace(fused.find("/pre/glu/gates/"), std::string_view("/pre/glu/gates/").size(), "/pre/");
  converter.add(converter.joined("", parts), {research_name(fused), first.layout});
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
  std::vector<TensorView> named(tensors.begin(), tensors.end());
  for (TensorView& tensor : named) tensor.name = current_tensorflow_name(tensor.name);
  for (const TensorView& tensor : named) {
    if (is_training_state(tensor.name)) {
      converter.result().training_state.push_back(tensor.name);
    } else if (const auto part = word_part(tensor.name)) {
      if (!word_parts.emplace(*part, &tensor).second) {
        throw_data_error("tensor {} is stored in two forms; remove one", tensor.name);
      }
    } else if (const auto other = hugging_face_name(tensor.name)) {
      converter.add(tensor, *other);
    } else if (!add_fused_qkv(tensor, converter) && !add_fused_glu(tensor, converter)) {
      converter.result().unknown.push_back(tensor.name);
    }
  }
  if (!word_parts.empty()) add_word_parts(word_parts, converter);
  join_glu(converter);
  add_key_biases(converter);
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
  const bool fuses_qkv = layout.fuses_qkv || layout.names == TensorflowNames::kResearch;
  for (const TensorView& tensor : tensors) {
    const auto attention = self_attention_of(tensor.name);
    if (fuses_qkv && attention) {
      add_fused_kernel(tensors, *attention, layout.names, converter, taken);
    }
  }
  for (const TensorView& tensor : tensors) {
    if (taken.contains(tensor.name)) continue;
    if (tensor.name.find(kGlu) != std::string::npos) {
      add_glu(tensor, layout.names, converter);
      continue;
    }
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
