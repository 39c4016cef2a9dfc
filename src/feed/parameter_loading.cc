#include "feed/parameter_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "checkpoints/stored_variant.h"
#include "checkpoints/tensor_names.h"
#include "runtime/value_slices.h"

namespace cloze::feed {
namespace {

using formats::TensorView;

// The bytes need not be aligned for T.
template <typename T, typename Convert>
void convert_each(std::span<const std::byte> bytes, std::span<float> values, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    T stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(stored);
  }
}

// Most encoders are saved with a pooler, whether anything reads it or not.
constexpr std::string_view kPooler = "bert.pooler.";

// Takes the pooler and the classifier of next sentences out of the names of a pre-training model's
// missing tensors. Without that classifier nothing reads the pooler.
std::vector<std::string> take_next_sentence_part(std::vector<std::string>& missing) {
  const auto is_part = [](const std::string& name) {
    return name.starts_with("cls.seq_relationship.") || name.starts_with(kPooler);
  };
  std::vector<std::string> part;
  if (std::ranges::count(missing, "cls.seq_relationship.weight") == 0) return part;
  std::ranges::copy_if(missing, std::back_inserter(part), is_part);
  std::erase_if(missing, is_part);
  return part;
}

bool wants_groupbert(std::span<const WantedTensor> wanted) {
  return std::ranges::any_of(wanted, checkpoints::is_of_groupbert, &WantedTensor::name);
}

// A stored bias of zeros says the same as none.
bool is_bias_of_zeros(const TensorView& tensor) {
  return tensor.name.ends_with(".bias") &&
         std::ranges::all_of(tensor.bytes, [](std::byte b) { return b == std::byte{0}; });
}

void copy_in_slices(runtime::Executor& executor, graph::Value value, const TensorView& tensor) {
  const auto size = static_cast<size_t>(bytes_of(tensor.dtype));
  for (runtime::ValueSlices slices(executor, value); slices.next(); slices.write()) {
    const std::span<float> values = slices.as<float>();
    TensorView slice = tensor;
    slice.shape = Shape{std::ssize(values)};
    slice.bytes =
        tensor.bytes.subspan(static_cast<size_t>(slices.first()) * size, values.size() * size);
    copy_as_float(slice, values);
  }
}

// The tensors of the file by their full names.
using StoredTensors = std::multimap<std::string, const TensorView*>;

// Returns "bert.encoder.layer.3." for the name of a tensor in that layer, else "".
std::string layer_of(const std::string& full_name) {
  constexpr std::string_view kLayers = "bert.encoder.layer.";
  if (!full_name.starts_with(kLayers)) return "";
  return full_name.substr(0, full_name.find('.', kLayers.size()) + 1);
}

// nullptr when there is none.
const TensorView* take(StoredTensors& stored, const std::string& name,
                       const std::filesystem::path& path) {
  const auto [first, last] = stored.equal_range(name);
  if (first == last) return nullptr;
  const TensorView* view = first->second;
  if (std::next(first) != last) {
    throw_data_error("{} holds {} twice, as {} and as {}; leave one of them out", path.string(),
                     name, view->name, std::next(first)->second->name);
  }
  stored.erase(first);
  return view;
}

}  // namespace

MatchedTensors match_tensors(std::span<const TensorView> tensors, const std::filesystem::path& path,
                             std::span<const WantedTensor> wanted) {
  StoredTensors stored;
  for (const TensorView& tensor : tensors) {
    stored.emplace(checkpoints::full_name(tensor.name), &tensor);
  }

  MatchedTensors matched;
  std::vector<std::string> misfits;
  for (const WantedTensor& tensor : wanted) {
    const TensorView* view = take(stored, tensor.name, path);
    matched.views.push_back(view);
    if (view == nullptr) {
      matched.missing.push_back(tensor.name);
    } else if (view->shape != tensor.shape) {
      misfits.push_back(fmt::format("{} is {} there and {} here", tensor.name,
                                    view->shape.to_string(), tensor.shape.to_string()));
    }
  }
  if (!misfits.empty()) {
    throw_data_error(
        "{} is a checkpoint of another shape: {}; give the options that it was trained with, such "
        "as "
        "--hidden-size, or --config with their file",
        path.string(), checkpoints::list_names(misfits, 1));
  }
  for (const auto& [name, view] : stored) {
    const bool says_nothing = checkpoints::is_redundant(name) || is_bias_of_zeros(*view) ||
                              name.starts_with(kPooler);
    if (!says_nothing) matched.unused.push_back(view->name);
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
      convert_each<float16>(tensor.bytes, values, [](float16 x) { return static_cast<float>(x); });
      return;
    default:
      throw_data_error("tensor {} holds {}, where a floating-point dtype is needed", tensor.name,
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
  throw_data_error(
      "{} lacks {} tensors of this model: {}; is it of another configuration, or not yet "
      "fine-tuned for this task?",
      file.string(), matched.missing.size(), checkpoints::list_names(matched.missing));
}

void require_whole_layers(std::span<const TensorView> stored, const MatchedTensors& matched,
                          const std::filesystem::path& file) {
  std::set<std::string> layers;
  for (const TensorView& tensor : stored)
    layers.insert(layer_of(checkpoints::full_name(tensor.name)));
  for (const std::string& name : matched.missing) {
    const std::string layer = layer_of(name);
    if (layer.empty() || !layers.contains(layer) || !name.ends_with(".weight")) continue;
    throw_data_error(
        "{} has {}*, but not {}; tensors that are not known here: {}; give a file with Hugging "
        "Face's names",
        file.string(), layer, name,
        matched.unused.empty() ? "none" : checkpoints::list_names(matched.unused));
  }
}

void copy_tensors(engine::Session& session, std::span<const WantedTensor> wanted,
                  const MatchedTensors& matched, const std::function<void()>& copied) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (matched.views[i] == nullptr) continue;
    const graph::Value value = session.value(wanted[i].name);
    const DType dtype = session.graph().type(value).dtype;
    if (dtype == DType::kF32) {
      copy_in_slices(session.executor(), value, *matched.views[i]);
    } else {
      CLOZE_CHECK(matched.views[i]->dtype == dtype, "{} is {} there", wanted[i].name,
                  name_of(matched.views[i]->dtype));
      session.write<std::byte>(wanted[i].name, matched.views[i]->bytes);
    }
    copied();
  }
}

StoredParameters::StoredParameters(const graph::Graph& graph, const std::filesystem::path& path)
    : file_(path) {
  const auto wanted = wanted_tensors(graph, graph::VariableRole::kParameter);
  checkpoints::require_variant(file_, wants_groupbert(wanted));
  MatchedTensors matched = match_tensors(file_.tensors(), file_.path(), wanted);
  absent_ = take_next_sentence_part(matched.missing);
  require_all(matched, file_.path());
  unused_ = std::move(matched.unused);
  for (size_t i = 0; i < wanted.size(); ++i) views_[wanted[i].name] = matched.views[i];
}

std::vector<std::string> StoredParameters::notes() const {
  std::vector<std::string> notes;
  const std::string file = file_.path().string();
  if (!absent_.empty()) {
    notes.push_back(fmt::format("{} cannot predict next sentences: it lacks {}", file,
                                checkpoints::list_names(absent_)));
  }
  if (!unused_.empty()) {
    notes.push_back(
        fmt::format("{} tensors of {} have no place in the model of its configuration: {}",
                    unused_.size(), file, checkpoints::list_names(unused_)));
  }
  return notes;
}

void StoredParameters::read(const std::string& name, std::span<float> values) const {
  const TensorView* view = views_.at(name);
  if (view == nullptr) {
    std::ranges::fill(values, 0.0f);
    return;
  }
  copy_as_float(*view, values);
  file_.release_memory();
}

std::vector<std::string> load_parameters(engine::Session& session,
                                         const std::filesystem::path& path) {
  const StoredParameters stored(session.graph(), path);
  std::vector<float> values;
  for (const WantedTensor& tensor :
       wanted_tensors(session.graph(), graph::VariableRole::kParameter)) {
    values.resize(static_cast<size_t>(tensor.shape.elements()));
    stored.read(tensor.name, values);
    session.write<float>(tensor.name, values);
  }
  session.refresh();
  return stored.notes();
}

}  // namespace cloze::feed
