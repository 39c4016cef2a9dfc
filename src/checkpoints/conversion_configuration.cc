#include "checkpoints/conversion_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_variant.h"
#include "checkpoints/tensor_editing.h"
#include "checkpoints/tensor_names.h"
#include "formats/json.h"
#include "graph/graph.h"
#include "models/bert_fields.h"
#include "models/bert_heads.h"

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

// Sets what Graphcore's programs compute whatever the configuration says.
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

// A model without a bias may also have zeros, for programs that always have one: the configuration
// says whether they are a bias.
bool has_convolution_bias(std::span<const TensorView> tensors, bool is_said_to) {
  return std::ranges::any_of(tensors, [&](const TensorView& tensor) {
    return is_convolution_bias(tensor.name) && (is_said_to || !is_all_zeros(tensor));
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
  require_variant(model, {.groupbert = read.config.groupbert,
                          .said_by = file.string(),
                          .next_step = "give its configuration with --config"});
  if (is_graphcore(options.from)) set_graphcore_numbers(read, options.to, notes);
  if (model.is_tensorflow()) set_switches(tensors, read.config);
  if (!to_hugging_face && !is_graphcore(options.from)) {
    compare_with_programs(read.config, options.from, options.to, notes);
  }
  return read;
}

std::map<std::string, Shape> parameter_shapes(const BertConfig& config,
                                              const models::BertHead& head) {
  graph::Graph graph;
  const models::BatchShape shape{.tokens = 8, .sequences = 1, .predictions = 1};
  if (head.kind == models::HeadKind::kEmbedding) {
    models::bert_for_inference(graph, config, head, shape);
  } else {
    models::bert_for_training(graph, config, head, shape);
  }
  std::map<std::string, Shape> shapes;
  for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
    shapes[graph.info(value).name] = graph.type(value).shape;
  }
  return shapes;
}

}  // namespace cloze::checkpoints
