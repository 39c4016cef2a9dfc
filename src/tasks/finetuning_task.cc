#include "tasks/finetuning_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/json.h"
#include "platform/files/atomic_file.h"

namespace cloze::tasks {
namespace {

std::map<std::string, std::vector<double>> by_name(const std::vector<SeedScores>& runs) {
  std::map<std::string, std::vector<double>> values;
  for (const SeedScores& run : runs) {
    for (const auto& [name, value] : run.scores) values[name].push_back(value);
  }
  return values;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The standard deviation of at least two values.
double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

std::string NamedScores::text() const {
  std::vector<std::string> words;
  for (const auto& [name, value] : printed) words.push_back(fmt::format("{} {:.4f}", name, value));
  return fmt::format("{}", fmt::join(words, ", "));
}

Scores NamedScores::percentages() const {
  Scores scores;
  for (const auto& [name, value] : printed) scores[name] = 100.0 * value;
  return scores;
}

std::vector<std::string> describe_runs(const std::vector<SeedScores>& runs) {
  std::vector<std::string> lines;
  for (const auto& [name, values] : by_name(runs)) {
    std::string line = fmt::format("{} {:.2f}", name, mean_of(values));
    if (values.size() > 1) {
      line += fmt::format(" +- {:.2f} ({} runs: {:.2f})", deviation_of(values), values.size(),
                          fmt::join(values, ", "));
    }
    lines.push_back(line);
  }
  return lines;
}

formats::Json seed_summary_json(const std::vector<SeedScores>& runs) {
  formats::Json json{{"runs", formats::Json::array()}, {"summary", formats::Json::object()}};
  for (const SeedScores& run : runs) {
    json["runs"].push_back({{"seed", run.seed}, {"scores", run.scores}});
  }
  for (const auto& [name, values] : by_name(runs)) {
    const auto best = std::ranges::max_element(values, {}, [](double value) {
      return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
    });
    formats::Json seed;
    if (!std::isnan(*best)) seed = runs[best - values.begin()].seed;
    json["summary"][name] = {{"mean", mean_of(values)},
                             {"deviation", deviation_of(values)},
                             {"best", *best},
                             {"best_seed", seed}};
  }
  return json;
}

void write_page_example(const std::filesystem::path& folder, const formats::Json& input,
                        const std::string& answer) {
  platform::write_file_atomically(folder / "example.json",
                                  formats::json_text({{"input", input}, {"answer", answer}}));
}

void note_rowless(const text::Tokenizer& tokenizer, const std::string& file,
                  const std::vector<std::string_view>& texts, const TaskOutput& output) {
  if (!tokenizer.lacks_rows()) return;
  text::TokenCount all;
  for (const std::string_view text : texts) {
    const text::TokenCount count = tokenizer.count(text);
    all.tokens += count.tokens;
    all.rowless += count.rowless;
  }
  output.notice(
      fmt::format("note: {}: {} of {} tokens have no row in the model and are read as [UNK]", file,
                  all.rowless, all.tokens));
}

}  // namespace cloze::tasks
