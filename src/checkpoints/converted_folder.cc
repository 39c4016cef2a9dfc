#include "checkpoints/converted_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "checkpoints/added_tokens.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/sentence_files.h"
#include "checkpoints/stored_head.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "checkpoints/tokenizer_json.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerFiles[] = {"vocab.txt", "tokenizer.json", "tokenizer_config.json",
                                           "special_tokens_map.json", "added_tokens.json"};

std::string config_text(const ConvertedModel& model) {
  const auto made = formats::Json::parse(hugging_face_config_text(model.config, {}, model.dtype));
  formats::Json config = model.source_config.is_null() ? made : model.source_config;
  // Google's has neither, and a folder may have come with that alone.
  if (!config.contains("model_type")) config["model_type"] = made.at("model_type");
  if (model.source_config.is_null() || !config.contains("architectures")) {
    config["architectures"] = {model.architecture};
    if (model.num_labels > 0 && !config.contains("id2label")) {
      add_label_names(numbered_labels(model.num_labels), config);
    }
  }
  if (model.sentences) {
    config["architectures"] = {model.architecture};
    for (const char* of_head : {"id2label", "label2id", "problem_type"}) config.erase(of_head);
  }
  config["vocab_size"] = model.config.vocab_size;
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = model.dtype;
  return formats::json_text(config);
}

std::string model_card(const ConvertedModel& model) {
  const models::BertConfig& c = model.config;
  return fmt::format(
      "---\n"
      "library_name: {}\n"
      "tags:\n- bert\n- cloze\n"
      "---\n\n"
      "# {}\n\n"
      "{} layers, hidden size {}, {} heads, vocabulary {}, up to {} positions.\n\n"
      "Converted with cloze from the checkpoint {}; it was not trained further.\n\n"
      "## To be filled in\n\n"
      "Language, licence, training data, intended use and limits.\n",
      model.sentences ? "sentence-transformers" : "transformers", model.architecture,
      c.num_hidden_layers, c.hidden_size, c.num_attention_heads, c.vocab_size,
      c.max_position_embeddings, model.source_name);
}

// The tokens that have an embedding; `notes` says what does not fit. The rows after them belong to
// the added tokens, and the rest to no token.
text::Vocabulary cut_to_rows(const text::Vocabulary& vocabulary, int64_t num_added,
                             const ConvertedModel& model, std::vector<std::string>& notes) {
  const int64_t tokens = vocabulary.size();
  const int64_t rows = model.config.vocab_size;
  if (rows > tokens + num_added) {
    notes.push_back(fmt::format("the last {} of {} word embeddings belong to no token (padding)",
                                rows - tokens - num_added, rows));
  }
  if (!text::missing_rows(vocabulary, rows, model.vocabulary_file.string())) return vocabulary;
  notes.push_back(
      fmt::format("the vocabulary's {} tokens were cut to the {} that have an "
                  "embedding, the last is now {}",
                  tokens, rows, vocabulary.token(static_cast<int32_t>(rows - 1))));
  const auto& all = vocabulary.tokens();
  return text::Vocabulary::from_tokens(
      {all.begin(), all.begin() + rows},
      fmt::format("the vocabulary's first {} tokens, as many as there are embeddings", rows));
}

// Why the tokenizer of a folder is not BERT's, when it is not.
std::optional<std::string> foreign_tokenizer(const fs::path& folder) {
  if (const auto name = foreign_tokenizer_class(folder)) {
    return fmt::format("tokenizer_class is {}", *name);
  }
  if (!fs::exists(folder / "tokenizer.json")) return std::nullopt;
  try {
    read_tokenizer_json(folder / "tokenizer.json");
    return std::nullopt;
  } catch (const UserError& error) {
    return error.what();
  }
}

// Copies a tokenizer's file if the folder has it.
bool copy_tokenizer_file(const fs::path& folder, const char* name, std::vector<TextFile>& files) {
  if (!fs::exists(folder / name)) return false;
  files.push_back({name, platform::read_file(folder / name)});
  return true;
}

// The source's own files where they fit; what is missing is made from the vocabulary. A tokenizer
// with other rules than BERT's cannot be made, only copied.
void add_tokenizer_files(const ConvertedModel& model, std::vector<TextFile>& files,
                         std::vector<std::string>& notes) {
  if (model.vocabulary_file.empty()) {
    notes.push_back("there is no vocabulary, so there are no tokenizer files; give --vocab-file");
    return;
  }
  const fs::path folder = folder_of(model.vocabulary_file);
  if (const auto foreign = foreign_tokenizer(folder)) {
    notes.push_back(*foreign + ": the tokenizer's files are copied as they are");
    for (const char* name : kTokenizerFiles) copy_tokenizer_file(folder, name, files);
    return;
  }
  const StoredTokenizer tokenizer = read_tokenizer(folder, model.vocabulary_file);
  notes.insert(notes.end(), tokenizer.notes.begin(), tokenizer.notes.end());
  const text::Vocabulary vocabulary =
      cut_to_rows(tokenizer.vocabulary, tokenizer.num_added, model, notes);
  const bool is_cut = vocabulary.size() < tokenizer.vocabulary.size();
  const std::vector<TextFile> made =
      tokenizer_files({.vocabulary = vocabulary,
                       .options = tokenizer.options,
                       .max_length = model.config.max_position_embeddings});
  std::error_code absent;  // a source that is no folder
  const bool is_beside = fs::equivalent(folder, model.source_folder, absent);
  for (const char* name : kTokenizerFiles) {
    if (is_beside && !is_cut && copy_tokenizer_file(folder, name, files)) continue;
    const auto own = std::ranges::find(made, name, &TextFile::name);
    if (own != made.end()) files.push_back(*own);
  }
}

std::string_view torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "float16";
    case DType::kBF16:
      return "bfloat16";
    case DType::kF64:
      return "float64";
    default:
      return "float32";
  }
}

}  // namespace

void describe_tensors(std::span<const formats::TensorView> tensors, ConvertedModel& model) {
  model.architecture = class_name(model.config, class_of_tensors(tensors));
  model.dtype = torch_dtype(tensors.front().dtype);
  model.num_labels = num_labels_of(tensors);
}

std::vector<TextFile> hugging_face_files(const ConvertedModel& model,
                                         std::vector<std::string>& notes) {
  std::vector<TextFile> files;
  add_tokenizer_files(model, files, notes);
  const fs::path card = model.source_folder / "README.md";
  const bool has_card = !model.source_folder.empty() && fs::exists(card);
  files.push_back({"README.md", has_card ? platform::read_file(card) : model_card(model)});
  files.push_back({"config.json", config_text(model)});
  if (model.sentences) {
    std::ranges::move(
        sentence_files(model.sentences->layers, model.sentences->settings, model.config),
        std::back_inserter(files));
  }
  return files;
}

std::vector<TextFile> tensorflow_files(const ConvertedModel& model, bool for_graphcore,
                                       bool use_qkv_split, std::vector<std::string>& notes) {
  auto config = formats::Json::parse(google_config_text(model.config))
                    .get<std::map<std::string, formats::Json>>();  // alphabetical, as theirs
  if (for_graphcore) {
    config["use_qkv_split"] = use_qkv_split;
    config["use_qkv_bias"] = model.config.use_qkv_bias;
    config["use_attention_projection_bias"] = model.config.use_attention_projection_bias;
    config["use_cls_layer"] = model.config.use_cls_layer;
    config["use_prediction_bias"] = model.config.use_prediction_bias;
  }
  std::vector<TextFile> files = {{"bert_config.json", formats::json_text(config)}};
  if (model.vocabulary_file.empty()) {
    notes.push_back("there is no vocabulary; give --vocab-file to have one beside the checkpoint");
  } else {
    const auto vocabulary = load_vocabulary(model.vocabulary_file);
    const int64_t added =
        std::ssize(added_tokens_in(folder_of(model.vocabulary_file), vocabulary.size()));
    files.push_back({"vocab.txt", cut_to_rows(vocabulary, added, model, notes).to_text()});
  }
  return files;
}

}  // namespace cloze::checkpoints
