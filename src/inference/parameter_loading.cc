#include "inference/parameter_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

#include "base/bfloat16.h"
#include "base/error.h"
#include "formats/model_tensors.h"

namespace cloze::inference {
namespace {

using formats::TensorView;

void replace_suffix(std::string& name, std::string_view from, std::string_view to) {
  if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
}

// The name as we write it.
std::string canonical_name(std::string_view stored) {
  std::string name(stored);
  if (name.starts_with("embeddings.") || name.starts_with("encoder.") ||
      name.starts_with("pooler.")) {
    name.insert(0, "bert.");
  }
  replace_suffix(name, "LayerNorm.gamma", "LayerNorm.weight");
  replace_suffix(name, "LayerNorm.beta", "LayerNorm.bias");
  return name;
}

// Copies of other tensors, and constants, that some writers store.
bool is_redundant(std::string_view name) {
  return name == "bert.embeddings.position_ids" || name == "cls.predictions.decoder.weight" ||
         name == "cls.predictions.decoder.bias";
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

// The bytes need not be aligned for T.
template <typename T, typename Convert>
void convert_each(std::span<const std::byte> bytes, std::span<float> values, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    T stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(stored);
  }
}

}  // namespace

MatchedTensors match_tensors(std::span<const TensorView> tensors, const std::filesystem::path& path,
                             std::span<const WantedTensor> wanted) {
  std::map<std::string, const TensorView*> stored;
  for (const TensorView& tensor : tensors) stored[canonical_name(tensor.name)] = &tensor;

  MatchedTensors matched;
  std::vector<std::string> misfits;
  for (const WantedTensor& tensor : wanted) {
    const auto found = stored.find(tensor.name);
    if (found == stored.end()) {
      matched.missing.push_back(tensor.name);
      matched.views.push_back(nullptr);
      continue;
    }
    const TensorView* view = found->second;
    stored.erase(found);
    if (view->shape != tensor.shape) {
      misfits.push_back(fmt::format("{} is {} there and {} here", tensor.name,
                                    view->shape.to_string(), tensor.shape.to_string()));
    }
    matched.views.push_back(view);
  }
  if (!misfits.empty()) {
    throw_data_error(
        "{} is a checkpoint of another shape: {}; give the configuration it was made with",
        path.string(), list_names(misfits, 1));
  }
  for (const auto& [name, view] : stored) {
    if (!is_redundant(name)) matched.unused.push_back(view->name);
  }
  return matched;
}

void copy_as_float(const TensorView& tensor, std::span<float> values) {
  CLOZE_CHECK(static_cast<int64_t>(values.size()) == tensor.shape.elements(),
              "{} has {} elements, not {}", tensor.name, tensor.shape.elements(), values.size());
  switch (tensor.dtype) {
    case DType::kF32:
      std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      return;
    case DType::kF64:
      convert_each<double>(tensor.bytes, values, [](double x) { return static_cast<float>(x); });
      return;
    case DType::kBF16:
      convert_each<bfloat16>(tensor.bytes, values,
                             [](bfloat16 x) { return static_cast<float>(x); });
      return;
    case DType::kF16:
      convert_each<uint16_t>(tensor.bytes, values, half_to_float);
      return;
    default:
      throw_data_error("tensor {} holds {}, where numbers with a fraction are needed", tensor.name,
                       name_of(tensor.dtype));
  }
}

std::vector<WantedTensor> wanted_tensors(const graph::Graph& graph, graph::VariableRole role) {
  std::vector<WantedTensor> wanted;
  for (const graph::Value value : graph.variables(role)) {
    wanted.push_back({graph.info(value).name, graph.type(value).shape});
  }
  return wanted;
}

void require_all(const MatchedTensors& matched, const std::filesystem::path& file) {
  if (matched.missing.empty()) return;
  throw_data_error("{} lacks {} tensors of this model: {}; is it of another configuration?",
                   file.string(), matched.missing.size(), list_names(matched.missing));
}

void copy_tensors(engine::Session& session, std::span<const WantedTensor> wanted,
                  const MatchedTensors& matched) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (matched.views[i] == nullptr) continue;
    copy_as_float(*matched.views[i], session.values<float>(wanted[i].name));
  }
}

void load_parameters(engine::Session& session, const std::filesystem::path& path) {
  const formats::ModelTensors file(path);
  const auto wanted = wanted_tensors(session.graph(), graph::VariableRole::kParameter);
  const MatchedTensors matched = match_tensors(file.tensors(), file.path(), wanted);
  require_all(matched, file.path());
  copy_tensors(session, wanted, matched);
  session.refresh();
}

std::string list_names(std::span<const std::string> names, size_t limit) {
  const size_t shown = std::min(limit, names.size());
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace cloze::inference
