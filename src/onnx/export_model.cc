#include "onnx/export_model.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/sentence_folder.h"
#include "checkpoints/stored_head.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/tensor_names.h"
#include "feed/parameter_loading.h"
#include "formats/json.h"
#include "onnx/exported_graph.h"
#include "onnx/translation.h"
#include "platform/files/folder.h"

namespace cloze::onnx {
namespace {

namespace fs = std::filesystem;
using checkpoints::StoredModel;
using formats::OnnxValue;
using formats::TensorView;
using models::HeadKind;
using models::OutputRows;

constexpr std::string_view kMaskedLanguageModel = "BertForMaskedLM";

bool holds(const StoredModel& stored, std::string_view full_name) {
  return std::ranges::any_of(stored.tensors(), [&](const TensorView& tensor) {
    return checkpoints::full_name(tensor.name) == full_name;
  });
}

// transformers' class, by the configuration or else by the tensors.
std::string class_of(const fs::path& configuration, const StoredModel& stored) {
  return checkpoints::architecture_in(formats::read_json_file(configuration))
      .value_or(std::string(checkpoints::class_of_tensors(stored.tensors())));
}

models::BertConfig read_config(const fs::path& configuration, const fs::path& model) {
  const models::BertConfig config = checkpoints::read_hugging_face_config(configuration);
  if (config.groupbert) {
    throw_user_error(
        "{} is a GroupBERT, whose convolutions and grouped products are not exported; ONNX export "
        "is for BERT with any of its heads",
        model.string());
  }
  return config;
}

models::BertHead head_of(const ExportOptions& options) {
  models::BertHead head = checkpoints::read_stored_head(options.model);
  if (!options.pooling) return head;
  if (head.kind != HeadKind::kEmbedding) head = {.kind = HeadKind::kEmbedding};
  checkpoints::replace_pooling(head.embedding, *options.pooling, options.model);
  return head;
}

OnnxValue described(const ExportedGraph& model, const ExportedOutput& output, bool has_choices) {
  OnnxValue value;
  value.axes.push_back({.name = "batch_size"});
  if (has_choices) value.axes.push_back({.name = "num_choices"});
  if (output.rows != OutputRows::kSequences) value.axes.push_back({.name = "sequence_length"});
  if (output.names.size() == 1 && !has_choices) {
    value.axes.push_back({.length = model.graph.type(output.value).shape[-1]});
  }
  return value;
}

// The scores of choices, [batch_size * num_choices, 1], a row for each question.
std::string by_question(Translation& to, const std::string& scores) {
  GraphBuilder& onnx = to.onnx();
  const std::string shape =
      onnx.add("Concat", {onnx.integers({-1}), to.num_choices()}, {{"axis", int64_t{0}}});
  return onnx.add("Reshape", {scores, shape});
}

// Column i of logits [batch_size, sequence_length, n].
std::string column(Translation& to, const std::string& logits, size_t i) {
  GraphBuilder& onnx = to.onnx();
  return onnx.add("Gather", {logits, onnx.integer(static_cast<int64_t>(i))},
                  {{"axis", int64_t{2}}});
}

void add_output(Translation& to, const ExportedGraph& model, const ExportedOutput& output,
                bool has_choices) {
  std::string value = to.translated(output.value);
  to.onnx().enter("");
  if (has_choices) value = by_question(to, value);
  OnnxValue form = described(model, output, has_choices);
  for (size_t i = 0; i < output.names.size(); ++i) {
    form.name = output.names[i];
    to.onnx().add_output(output.names.size() > 1 ? column(to, value, i) : value, form);
  }
}

formats::OnnxGraph onnx_graph(const ExportedModel& model, const ExportedGraph& exported,
                              const ReadParameter& read) {
  Translation to(exported.graph, read, model.has_choices());
  for (const ExportedOutput& output : exported.outputs) {
    add_output(to, exported, output, model.has_choices());
  }
  return std::move(to).take();
}

// Says so where weights are not stored in f32, as they are written.
void note_precision(const StoredModel& stored, std::vector<std::string>& notes) {
  std::set<std::string_view> names;
  for (const TensorView& tensor : stored.tensors()) {
    const bool is_weight = is_floating(tensor.dtype);
    if (is_weight && tensor.dtype != DType::kF32) names.insert(name_of(tensor.dtype));
  }
  if (names.empty()) return;
  notes.push_back(fmt::format("{} has weights in {}, which are written in f32",
                              stored.path().string(), fmt::join(names, " and ")));
}

// A model's other files keep theirs: none of them ends so.
fs::path output_of(const ExportOptions& options) {
  if (options.output.empty()) return checkpoints::folder_of(options.model) / "onnx" / "model.onnx";
  if (options.output.extension() != ".onnx") {
    throw_user_error("{} does not end with .onnx; name the file to write, such as onnx/model.onnx",
                     options.output.string());
  }
  return options.output;
}

std::vector<std::string> names_of(const std::vector<OnnxValue>& values) {
  std::vector<std::string> names;
  for (const OnnxValue& value : values) names.push_back(value.name);
  return names;
}

}  // namespace

ExportReport export_model(const ExportOptions& options) {
  const fs::path output = output_of(options);
  const fs::path configuration = checkpoints::configuration_of(options.model);
  const models::BertConfig config = read_config(configuration, options.model);
  const StoredModel stored(options.model);
  const std::string architecture = class_of(configuration, stored);
  const ExportedModel model{
      .config = config,
      .head = head_of(options),
      .has_next_sentence =
          architecture != kMaskedLanguageModel && holds(stored, "cls.seq_relationship.weight"),
      .makes_vectors = options.pooling || checkpoints::has_modules(stored.folder()),
      .has_pooler = holds(stored, "bert.pooler.dense.weight")};
  const ExportedGraph exported = exported_graph(model);
  const feed::StoredParameters parameters(exported.graph, options.model);
  const formats::OnnxGraph graph = onnx_graph(
      model, exported,
      [&](const std::string& name, std::span<float> values) { parameters.read(name, values); });
  ExportReport report{.architecture = architecture,
                      .inputs = names_of(graph.inputs),
                      .outputs = names_of(graph.outputs),
                      .notes = parameters.notes()};
  note_precision(stored, report.notes);
  platform::make_writable_directory(platform::folder_of(output));
  report.files = formats::write_onnx(output, graph);
  return report;
}

}  // namespace cloze::onnx
