// Features and predictions of a SQuAD file from given logits, for scripts/check_squad.
//
// Usage: squad_driver STYLE DATA VOCABULARY LOGITS FOLDER
// LOGITS holds float32 values: of each feature the start logits of its tokens, then the end logits.
// FOLDER gets the prediction files and features.jsonl.
#include <span>
#include <string>

#include "driver_main.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "tasks/squad/squad_predictions.h"

namespace cloze::tasks {
namespace {

std::vector<uint32_t> range_of(const std::vector<uint32_t>& values, const SquadWindow& window) {
  return {values.begin() + window.begin, values.begin() + window.end};
}

formats::Json feature_json(const SquadData& data, const SquadFeatures& features,
                           const SquadWindow& window) {
  const data::Sample sample = squad_sample(data, features, window);
  const auto& words = features.contexts[data.questions[window.question].context].token_words;
  return {{"id", data.questions[window.question].id},
          {"input_ids", sample.input_ids},
          {"token_type_ids", sample.token_type_ids},
          {"start", sample.start_position},
          {"end", sample.end_position},
          {"best", {window.best_begin - window.begin, window.best_end - window.begin}},
          {"words", words.empty() ? words : range_of(words, window)}};
}

std::vector<SquadLogits> logits_of(const SquadFeatures& features, std::span<const float> values) {
  std::vector<SquadLogits> logits;
  for (const SquadWindow& window : features.windows) {
    const size_t length =
        features.context_position(window.question) + window.end - window.begin + 1;
    if (values.size() < 2 * length) throw_user_error("the file of logits is too short");
    logits.push_back({values.first(length), values.subspan(length, length)});
    values = values.subspan(2 * length);
  }
  return logits;
}

void run(const std::span<char* const> arguments) {
  if (arguments.size() != 6) {
    throw_user_error("usage: squad_driver STYLE DATA VOCABULARY LOGITS FOLDER");
  }
  const text::Profile profile = text::profile_from_name(arguments[1]);
  const SquadStyle style =
      profile == text::Profile::kGoogle ? SquadStyle::kGoogle : SquadStyle::kHuggingFace;
  const SquadData data = read_squad(arguments[2]);
  const text::Tokenizer tokenizer(text::Vocabulary::load(arguments[3]), {.profile = profile});
  const platform::MappedFile file(arguments[4]);
  const std::filesystem::path folder = arguments[5];
  const SquadFeatures features =
      make_squad_features(data, tokenizer, {.style = style, .with_labels = true});
  platform::make_writable_directory(folder);
  platform::AtomicFile lines(folder / "features.jsonl");
  for (const SquadWindow& window : features.windows) {
    lines.write(formats::json_line(feature_json(data, features, window)) + "\n");
  }
  lines.commit();
  const std::span<const float> values(reinterpret_cast<const float*>(file.bytes().data()),
                                      file.bytes().size() / sizeof(float));
  const SquadPredictor predictor(data, features, tokenizer, {});
  write_squad_predictions(folder, data,
                          predict_squad(predictor, features, logits_of(features, values), 1));
}

}  // namespace
}  // namespace cloze::tasks

int main(int argc, char** argv) { return cloze::driver_main(argc, argv, cloze::tasks::run); }
