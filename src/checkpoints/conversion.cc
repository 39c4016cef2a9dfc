#include "checkpoints/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "checkpoints/conversion_check.h"
#include "checkpoints/conversion_configuration.h"
#include "checkpoints/converted_folder.h"
#include "checkpoints/sentence_conversion.h"
#include "checkpoints/sentence_files.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "checkpoints/tensor_editing.h"
#include "formats/model_tensors.h"
#include "formats/tf_checkpoint.h"
#include "models/bert_heads.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;
using formats::TensorView;
using models::BertConfig;

constexpr int64_t kGraphcoreVocabulary = 30400;
constexpr size_t kNamesInNote = 50;

class Conversion {
 public:
  explicit Conversion(const ConversionOptions& options)
      : options_(options), model_(options.checkpoint) {}

  ConversionReport run() {
    check_conversion(options_, model_, report_.notes);
    take_tensors();
    read_configuration();
    keep_encoder();
    if (!to_hugging_face()) leave_out_convolution_biases();
    leave_out_parts();
    fit_vocabulary();
    compare_with_configuration();
    if (config_ && !to_graphcore()) add_absent_biases();
    set_precision();
    if (!to_hugging_face()) lay_out_for_tensorflow();
    const std::vector<TextFile> texts = texts_beside();
    platform::make_writable_directory(options_.output_dir);
    to_hugging_face() ? write_hugging_face() : write_tensorflow();
    write_files(texts);
    name_other_files();
    return std::move(report_);
  }

 private:
  bool to_hugging_face() const { return options_.to == CheckpointForm::kHuggingFace; }
  bool to_graphcore() const { return is_graphcore(options_.to); }
  bool from_graphcore() const { return is_graphcore(options_.from); }

  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    report_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void refuse_as_no_bert() const {
    throw_data_error("{} holds no tensor of a BERT", model_.path().string());
  }

  // The tensors under their current names, without those that are not parameters.
  void take_tensors() {
    std::vector<std::string> renamed;
    std::set<std::string> names;
    for (TensorView tensor : model_.tensors()) {
      const std::string name =
          to_hugging_face() ? current_name(tensor.name) : full_name(tensor.name);
      if (is_redundant(full_name(name)) && leave_out_redundant(tensor)) continue;
      if (name != tensor.name) renamed.push_back(tensor.name);
      tensor.name = name;
      if (!names.insert(name).second) {
        throw_data_error("{}: tensor {} is present under two names; remove one",
                         model_.path().string(), name);
      }
      tensors_.push_back(std::move(tensor));
    }
    if (tensors_.empty()) refuse_as_no_bert();
    if (!renamed.empty()) {
      note("renamed, {} tensors: {}", renamed.size(), list_names(renamed));
    }
    if (!model_.training_state().empty()) {
      note("left out, {} tensors of the optimiser's state: {}", model_.training_state().size(),
           list_names(model_.training_state()));
    }
    if (!model_.unknown().empty()) {
      note("left out, {} tensors that do not belong to BERT: {}", model_.unknown().size(),
           list_names(model_.unknown(), kNamesInNote));
    }
    if (!model_.other_entries().empty()) {
      note("left out, not tensors: {}", list_names(model_.other_entries(), kNamesInNote));
    }
  }

  // A copy that differs from its original is kept.
  bool leave_out_redundant(const TensorView& tensor) {
    const bool is_table = tensor.name == "cls.predictions.decoder.weight";
    const bool is_bias = tensor.name == "cls.predictions.decoder.bias";
    if (!is_table && !is_bias) {
      note("left out, a constant: {}", tensor.name);
      return true;
    }
    const TensorView* original =
        model_.find(is_bias ? "cls.predictions.bias" : "bert.embeddings.word_embeddings.weight");
    const bool is_copy = original != nullptr && original->dtype == tensor.dtype &&
                         std::ranges::equal(original->bytes, tensor.bytes);
    if (is_copy) note("left out, a copy of {}: {}", original->name, tensor.name);
    return is_copy;
  }

  void read_configuration() {
    if (auto read = conversion_configuration(options_, model_, tensors_, report_.notes)) {
      configuration_name_ = read->file_name;
      config_ = read->config;
      if (!model_.is_tensorflow()) converted_.source_config = std::move(read->content);
    }
    converted_.vocabulary_file = options_.vocabulary_file;
    if (converted_.vocabulary_file.empty()) {
      converted_.vocabulary_file = vocabulary_file_in(model_.folder()).value_or("");
    }
  }

  // A model that makes vectors of texts has no other head.
  void keep_encoder() {
    if (!to_hugging_face()) return;
    converted_.sentences = sentence_model(options_, model_, *config_);
    if (!converted_.sentences) return;
    const std::vector<std::string> heads = take_heads(tensors_, converted_.sentences->layers);
    if (!heads.empty()) note("left out, of another head: {}", list_names(heads, kNamesInNote));
  }

  models::BertHead head() const {
    if (!converted_.sentences) return {};
    return {.kind = models::HeadKind::kEmbedding, .embedding = converted_.sentences->layers};
  }

  void leave_out_parts() {
    const auto leave_out = [&](bool is_wanted, std::initializer_list<std::string_view> parts) {
      if (is_wanted) return;
      std::vector<std::string> names;
      std::erase_if(tensors_, [&](const TensorView& tensor) {
        const bool is_part = std::ranges::any_of(parts, [&](std::string_view part) {
          return tensor.name.find(part) != std::string::npos;
        });
        if (is_part) names.push_back(tensor.name);
        return is_part;
      });
      if (!names.empty()) note("left out, as asked: {}", list_names(names, kNamesInNote));
    };
    leave_out(options_.use_qkv_bias, {".self.query.bias", ".self.key.bias", ".self.value.bias"});
    leave_out(options_.use_attention_bias, {".attention.output.dense.bias"});
    leave_out(options_.use_cls_layer, {"cls.predictions.transform."});
    if (!config_) return;
    config_->use_qkv_bias &= options_.use_qkv_bias;
    config_->use_attention_projection_bias &= options_.use_attention_bias;
    config_->use_cls_layer &= options_.use_cls_layer;
  }

  // The programs of TensorFlow's checkpoints have no bias in GroupBERT's convolution.
  void leave_out_convolution_biases() {
    const ConvolutionBiases biases = take_zero_convolution_biases(tensors_);
    if (biases.names.empty()) return;
    const std::string names = list_names(biases.names, kNamesInNote);
    if (!biases.are_zeros) {
      return note("Graphcore's programs have no bias in the convolution; they leave these out: {}",
                  names);
    }
    note("left out, zeros without any effect: {}", names);
    if (config_) config_->groupbert_conv_bias = false;
  }

  int64_t wanted_rows(int64_t rows) const {
    if (options_.vocab_size) return *options_.vocab_size;
    if (to_graphcore() && !from_graphcore()) return std::min(rows, kGraphcoreVocabulary);
    if (from_graphcore() && !to_graphcore() && !converted_.vocabulary_file.empty()) {
      const int64_t tokens = load_vocabulary(converted_.vocabulary_file).size();
      return std::max(rows, tokens);
    }
    return rows;
  }

  void fit_vocabulary() {
    const int64_t rows = vocabulary_rows(tensors_);
    const int64_t wanted = wanted_rows(rows);
    if (rows > 0 && wanted != rows) {
      resize_vocabulary(tensors_, wanted, storage_);
      wanted < rows ? note("the vocabulary was cut from {} rows to {}", rows, wanted)
                    : note("{} rows, the mean of the others, were appended to the vocabulary's {}",
                           wanted - rows, rows);
    }
    if (!config_ || rows == 0) return;
    if (config_->vocab_size != rows && config_->vocab_size != wanted) {
      note("the configuration's vocab_size {} is now the {} of the word table", config_->vocab_size,
           wanted);
    }
    config_->vocab_size = wanted;
  }

  void compare_with_configuration() {
    if (!config_) {
      note("there is no configuration, so shapes were not compared; give --config");
      return;
    }
    std::map<std::string, Shape> missing = parameter_shapes(*config_, head());
    const size_t num_expected = missing.size();
    std::vector<std::string> others;
    for (const TensorView& tensor : tensors_) {
      const auto expected = missing.find(full_name(tensor.name));
      if (expected == missing.end()) {
        others.push_back(tensor.name);
        continue;
      }
      if (expected->second != tensor.shape) {
        throw_data_error(
            "{}: {} is {}, but {} in its configuration; give the right one with --config",
            model_.path().string(), tensor.name, tensor.shape.to_string(),
            expected->second.to_string());
      }
      missing.erase(expected);
    }
    if (missing.size() == num_expected) refuse_as_no_bert();
    // A bare encoder of transformers has a pooler, which no vector needs.
    if (converted_.sentences) std::erase_if(others, is_of_pooler);
    if (!others.empty())
      note("not part of the pre-training model: {}", list_names(others, kNamesInNote));
    if (missing.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, shape] : missing) names.push_back(name);
    note("not in the checkpoint, so not in the output: {}", list_names(names, kNamesInNote));
  }

  // Biases that the model lacks become zeros for programs that expect them.
  void add_absent_biases() {
    std::vector<std::string> names;
    for (const models::AbsentBias& bias : models::absent_biases(*config_, head().kind)) {
      if (std::ranges::any_of(tensors_, [&](const TensorView& tensor) {
            return full_name(tensor.name) == bias.name;
          })) {
        continue;
      }
      if (!to_hugging_face() && is_convolution_bias(bias.name)) continue;
      const auto& bytes = storage_.emplace_back(static_cast<size_t>(bias.size) * sizeof(float));
      tensors_.push_back({bias.name, DType::kF32, Shape{bias.size}, bytes});
      convert_precision(tensors_.back(), tensors_.front().dtype, storage_);
      names.push_back(bias.name);
    }
    if (!names.empty())
      note("added, zeros for biases that the model does not have: {}",
           list_names(names, kNamesInNote));
    if (!config_->use_cls_layer) {
      note(
          "the model has no cls.predictions.transform; other programs would initialise one afresh");
    }
  }

  void set_precision() {
    const int64_t bits = options_.precision.value_or(to_graphcore() ? 16 : 0);
    if (bits == 0) return;
    std::set<std::string_view> before;
    for (TensorView& tensor : tensors_) {
      before.insert(name_of(tensor.dtype));
      // Graphcore's SQuAD head computes in single precision.
      const bool stays_single = to_graphcore() && tensor.name.starts_with("qa_outputs.");
      convert_precision(tensor, bits == 16 && !stays_single ? DType::kF16 : DType::kF32, storage_);
    }
    note("weights were {}, and now have {} bits", fmt::join(before, " and "), bits);
  }

  // Made before anything is written: it may fail.
  std::vector<TextFile> texts_beside() {
    if (!config_) return {};
    describe();
    if (to_hugging_face()) return hugging_face_files(converted_, report_.notes);
    return tensorflow_files(converted_, to_graphcore(), options_.use_qkv_split, report_.notes);
  }

  void describe() {
    converted_.config = *config_;
    if (!model_.is_tensorflow()) converted_.source_folder = model_.folder();
    converted_.source_name = model_.path().filename().string();
    describe_tensors(tensors_, converted_);
  }

  void write_files(const std::vector<TextFile>& files) {
    for (const TextFile& file : files) {
      platform::make_writable_directory((options_.output_dir / file.name).parent_path());
      platform::write_file_atomically(options_.output_dir / file.name, file.text);
      report_.files.push_back(file.name);
    }
  }

  void count(std::span<const TensorView> tensors) {
    report_.tensors = std::ssize(tensors);
    for (const TensorView& tensor : tensors) report_.elements += tensor.shape.elements();
  }

  void write_hugging_face() {
    count(tensors_);
    std::vector<std::string> dense;
    if (converted_.sentences) {
      std::vector<formats::TensorSource> sources;
      for (const TensorView& tensor : tensors_) sources.push_back(formats::source_of(tensor));
      dense = write_dense_layers(options_.output_dir, converted_.sentences->layers, sources);
      name_as_bare_encoder(tensors_, converted_.sentences->layers);
    }
    report_.files =
        formats::write_model_folder(options_.output_dir, tensors_, options_.max_shard_bytes);
    report_.files.insert(report_.files.end(), dense.begin(), dense.end());
  }

  TensorflowNames names_there() const {
    if (options_.to == CheckpointForm::kResearch) return TensorflowNames::kResearch;
    return to_graphcore() ? TensorflowNames::kGraphcore : TensorflowNames::kGoogle;
  }

  // Made before anything is written: it may fail.
  void lay_out_for_tensorflow() {
    tensorflow_ = to_tensorflow(tensors_, {.names = names_there(),
                                           .fuses_qkv = !options_.use_qkv_split,
                                           .num_word_tables = options_.num_embeddings_splits});
    if (tensorflow_.tensors.empty()) refuse_as_no_bert();
    if (!tensorflow_.unknown.empty()) {
      note("left out, such checkpoints have no name for them: {}",
           list_names(tensorflow_.unknown, kNamesInNote));
    }
  }

  void write_tensorflow() {
    count(tensorflow_.tensors);
    const std::string name =
        model_.is_tensorflow() ? model_.path().filename().string() : "bert_model.ckpt";
    formats::write_tf_checkpoint(options_.output_dir / name, tensorflow_.tensors);
    report_.files = {name + ".data-00000-of-00001", name + ".index", "checkpoint"};
  }

  // A file given by itself says nothing about those beside it.
  void name_other_files() {
    if (!fs::is_directory(options_.checkpoint)) return;
    std::vector<std::string> names = model_.other_files();
    const auto is_written = [&](const std::string& name) {
      return std::ranges::any_of(report_.files, [&](const fs::path& file) {
        return !file.empty() && *file.begin() == name;
      });
    };
    std::erase_if(names, [&](const std::string& name) {
      return name == configuration_name_ || name == converted_.vocabulary_file.filename() ||
             is_written(name);
    });
    if (!names.empty())
      note("files of the folder that are not carried over: {}", list_names(names, kNamesInNote));
  }

  const ConversionOptions& options_;
  StoredModel model_;
  std::string configuration_name_;
  std::vector<TensorView> tensors_;
  TensorStorage storage_;
  ConvertedTensors tensorflow_;
  std::optional<BertConfig> config_;
  ConvertedModel converted_;
  ConversionReport report_;
};

}  // namespace

ConversionReport convert_checkpoint(const ConversionOptions& options) {
  return Conversion(options).run();
}

}  // namespace cloze::checkpoints
