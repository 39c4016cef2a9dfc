// Features and predictions of a SQuAD file from given logits, for scripts/check_squad.
//
// Usage: squad_driver DATA VOCABULARY LOGITS FOLDER
// LOGITS holds float32 values: of each feature the start logits of its tokens, then the end logits.
// FOLDER gets the prediction files and features.jsonl.
#include <fmt/core.h>

#include <exception>
#include <span>
#include <string>

#include "formats/json.h"
#include "platform/file.h"
#include "tasks/squad/squad_predictions.h"

namespace cloze::tasks {
namespace {

nlohmann::ordered_json feature_json(const SquadData& data, const SquadFeatures& features,
                                    const SquadWindow& window) {
  const data::Sample sample = squad_sample(data, features, window);
  const auto& words = features.contexts[data.questions[window.question].context].token_words;
  return {
      {"id", data.questions[window.question].id},
      {"input_ids", sample.input_ids},
      {"token_type_ids", sample.token_type_ids},
      {"start", sample.start_position},
      {"end", sample.end_position},
      {"best", {window.best_begin - window.begin, window.best_end - window.begin}},
      {"words", std::vector<uint32_t>(words.begin() + window.begin, words.begin() + window.end)}};
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
  if (arguments.size() != 5) throw_user_error("usage: squad_driver DATA VOCABULARY LOGITS FOLDER");
  const SquadData data = read_squad(arguments[1]);
  const text::Tokenizer tokenizer(text::Vocabulary::load(arguments[2]),
                                  {.profile = text::Profile::kGoogle});
  const platform::MappedFile file(arguments[3]);
  const std::filesystem::path folder = arguments[4];
  const SquadFeatures features = make_squad_features(data, tokenizer, {.with_labels = true});
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

int main(int argc, char** argv) {
  try {
    cloze::tasks::run({argv, static_cast<size_t>(argc)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "squad_driver: {}\n", error.what());
    return 1;
  }
  return 0;
}
