#include "checkpoints/conversion_check.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "checkpoints/stored_variant.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxVocabulary = 10'000'000;

// Returns nothing when the names of a TensorFlow checkpoint do not tell.
std::optional<CheckpointForm> form_of(const StoredModel& model) {
  if (!model.is_tensorflow()) return CheckpointForm::kHuggingFace;
  const std::optional<TensorflowNames> names = model.tensorflow_names();
  if (!names) return std::nullopt;
  if (*names == TensorflowNames::kGoogle) return CheckpointForm::kGoogle;
  return *names == TensorflowNames::kGraphcore ? CheckpointForm::kGraphcore
                                               : CheckpointForm::kResearch;
}

std::string_view owner_of_names(CheckpointForm form) {
  constexpr std::string_view kOwners[] = {"Hugging Face's", "Google's", "Graphcore's",
                                          "Graphcore's research"};
  return kOwners[static_cast<int>(form)];
}

// The forms differ in constants that no tensor holds, so no form is read as another.
void check_form(const ConversionOptions& options, const StoredModel& model) {
  const std::optional<CheckpointForm> form = form_of(model);
  if (form == options.from) return;
  if (!form && options.from != CheckpointForm::kHuggingFace) return;
  throw_user_error(
      "{} holds tensors under {} names; choose an action that begins with {}",
      model.path().string(), form ? owner_of_names(*form) : "TensorFlow's",
      form ? fmt::format("{}2", short_name(*form)) : "google2, graphcore2 or research2");
}

void check_values(const ConversionOptions& options) {
  if (fs::exists(options.output_dir) &&
      !(fs::is_directory(options.output_dir) && fs::is_empty(options.output_dir))) {
    throw_user_error("{} is not empty; choose another --output-dir or remove it",
                     options.output_dir.string());
  }
  if (options.precision && *options.precision != 16 && *options.precision != 32) {
    throw_user_error("`precision` is {}; choose 16 or 32", *options.precision);
  }
  if (options.vocab_size && (*options.vocab_size < 1 || *options.vocab_size > kMaxVocabulary)) {
    throw_user_error("vocab_size is {}; choose 1 to {}", *options.vocab_size, kMaxVocabulary);
  }
  const bool asks_for_graphcores = !options.use_qkv_bias || !options.use_attention_bias ||
                                   !options.use_cls_layer || !options.use_qkv_split ||
                                   options.num_embeddings_splits != 1;
  if (asks_for_graphcores && !is_graphcore(options.to)) {
    throw_user_error(
        "use_qkv_bias, use_attention_bias, use_cls_layer, use_qkv_split and "
        "num_embeddings_splits are for Graphcore's checkpoints; leave them out, or choose "
        "{}2graphcore",
        short_name(options.from));
  }
}

// Graphcore's program assumes that the tensors are a GroupBERT's unless told otherwise.
void check_baseline(const StoredModel& model, std::vector<std::string>& notes) {
  if (holds_groupbert(model.tensors()).value_or(false)) {
    throw_user_error(
        "baseline says that {} is a BERT, but it holds a GroupBERT; leave --baseline out",
        model.path().string());
  }
  notes.emplace_back("baseline is not needed: the tensors say that this is a BERT");
}

}  // namespace

void check_conversion(const ConversionOptions& options, const StoredModel& model,
                      std::vector<std::string>& notes) {
  check_form(options, model);
  check_values(options);
  if (options.is_baseline) check_baseline(model, notes);
}

}  // namespace cloze::checkpoints
