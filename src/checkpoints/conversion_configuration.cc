#include "checkpoints/conversion_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/tensor_names.h"
#include "formats/json.h"
#include "models/bert_fields.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;
using formats::TensorView;
using models::Activation, models::BertConfig;

constexpr double kGraphcoreEpsilon = 1e-3;

bool has(std::span<const TensorView> tensors, std::string_view part) {
  return std::ranges::any_of(tensors, [&](const TensorView& tensor) {
    return full_name(tensor.name).find(part) != std::string::npos;
  });
}

void check_variant(const BertConfig& config, const fs::path& file, const StoredModel& model,
                   std::span<const TensorView> tensors) {
  if (config.groupbert == has(tensors, ".convolution.")) return;
  throw_user_error("{} describes a {}, but {} holds a {}; give its configuration with --config",
                   file.string(), config.groupbert ? "GroupBERT" : "BERT", model.path().string(),
                   config.groupbert ? "BERT" : "GroupBERT");
}

// What Graphcore's programs compute whatever the configuration says.
void set_graphcore_numbers(ConversionConfiguration& read, CheckpointForm to,
                           std::vector<std::string>& notes) {
  BertConfig& config = read.config;
  if (read.content.contains("layer_norm_eps") && config.layer_norm_eps != kGraphcoreEpsilon) {
    notes.push_back(fmt::format("{} says layer_norm_eps {}, which Graphcore's programs do not read",
                                read.file_name, config.layer_norm_eps));
  }
  config.layer_norm_eps = kGraphcoreEpsilon;
  config.hidden_act = Activation::kGeluTanh;
  if (is_graphcore(to)) return;
  notes.push_back(
      fmt::format("Graphcore's programs compute GELU by tanh and LayerNorm with epsilon {}{}",
                  kGraphcoreEpsilon,
                  to == CheckpointForm::kHuggingFace
                      ? ": config.json says so"
                      : "; Google's with 1e-12, which no configuration changes"));
}

bool is_zero(const TensorView& tensor) {
  return std::ranges::all_of(tensor.bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// Zeros are there for a model without one too, for programs that always have one: whether they are
// a bias, the configuration says.
bool has_convolution_bias(std::span<const TensorView> tensors, bool is_said_to) {
  return std::ranges::any_of(tensors, [&](const TensorView& tensor) {
    const bool is_bias =
        full_name(tensor.name).find(".convolution.groupconv.bias") != std::string::npos;
    return is_bias && (is_said_to || !is_zero(tensor));
  });
}

// The switches say what there is; heads that are not there at all say nothing.
void set_switches(std::span<const TensorView> tensors, BertConfig& config) {
  config.use_qkv_bias = has(tensors, ".attention.self.query.bias");
  config.use_attention_projection_bias = has(tensors, ".attention.output.dense.bias");
  config.groupbert_conv_bias = has_convolution_bias(tensors, config.groupbert_conv_bias);
  if (!has(tensors, "cls.")) return;
  config.use_cls_layer = has(tensors, "cls.predictions.transform.");
  config.use_prediction_bias = has(tensors, "cls.predictions.bias");
}

// TensorFlow's programs have one GELU and one epsilon, whatever their configuration says.
void compare_with_programs(const BertConfig& config, CheckpointForm from, CheckpointForm to,
                           std::vector<std::string>& notes) {
  const double epsilon = is_graphcore(to) ? kGraphcoreEpsilon : kGoogleEpsilon;
  const std::string_view whose = is_graphcore(to) ? "Graphcore" : "Google";
  if (config.layer_norm_eps != epsilon) {
    notes.push_back(fmt::format("LayerNorm's epsilon is {}; {}'s programs compute with {}",
                                config.layer_norm_eps, whose, epsilon));
  }
  if (config.hidden_act == Activation::kGeluTanh) {
    notes.push_back(fmt::format(
        "hidden_act {} is \"gelu\" in bert_config.json: {}'s programs compute that by tanh; "
        "programs that compute the exact form need hidden_act gelu_new",
        models::activation_name(config.hidden_act), whose));
  } else if (from == CheckpointForm::kHuggingFace) {
    notes.push_back(fmt::format("hidden_act {} is the erf form; {}'s programs compute it by tanh",
                                models::activation_name(config.hidden_act), whose));
  }
}

}  // namespace

std::optional<ConversionConfiguration> conversion_configuration(const ConversionOptions& options,
                                                                const StoredModel& model,
                                                                std::span<const TensorView> tensors,
                                                                std::vector<std::string>& notes) {
  const bool to_hugging_face = options.to == CheckpointForm::kHuggingFace;
  fs::path file = options.config_file;
  if (file.empty() && (to_hugging_face || has_configuration(model.folder()))) {
    file = configuration_of(model.path());
  }
  if (file.empty()) return std::nullopt;
  ConversionConfiguration read{.file_name = file.filename().string(),
                               .content = formats::read_json_file(file)};
  read.config = bert_config_from_json(read.content, file.string());
  check_variant(read.config, file, model, tensors);
  if (is_graphcore(options.from)) set_graphcore_numbers(read, options.to, notes);
  if (model.is_tensorflow()) set_switches(tensors, read.config);
  if (!to_hugging_face && !is_graphcore(options.from)) {
    compare_with_programs(read.config, options.from, options.to, notes);
  }
  return read;
}

}  // namespace cloze::checkpoints
