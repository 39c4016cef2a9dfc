#include "cli/benchmark/benchmark_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "cli/options/option_table.h"
#include "cli/options/option_value.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

BenchmarkRun run_of(const std::string& line) {
  BenchmarkRun run;
  std::istringstream words(line);
  words >> run.command;
  std::string word, key;
  while (words >> word) {
    if (!word.starts_with("--")) {
      run.options[key] = word;
      continue;
    }
    const size_t equals = std::min(word.find('='), word.size());
    key = word.substr(2, equals - 2);
    std::ranges::replace(key, '-', '_');
    run.options[key] = equals == word.size() ? "true" : word.substr(equals + 1);
  }
  return run;
}

}  // namespace

std::string BenchmarkRun::text() const {
  std::string text = command;
  for (const auto& [name, value] : options) text += fmt::format(" {}={}", flag_name(name), value);
  return text;
}

BenchmarkTable read_benchmarks(const std::filesystem::path& file) {
  const std::string text = platform::read_file(file);
  const auto document = formats::parse_yaml(text);
  if (!document) throw_user_error("{}", formats::message_at(file, text, document.error()));
  BenchmarkTable table;
  for (const auto& [name, lines] : document->items()) {
    for (const auto& line : lines) {
      if (!line.is_string()) {
        throw_user_error("{}: {} is a list of command lines of cloze", file.string(), name);
      }
      table[name].push_back(run_of(line.get<std::string>()));
    }
  }
  return table;
}

const std::vector<BenchmarkRun>& benchmark_named(const BenchmarkTable& table,
                                                 const std::string& name) {
  constexpr size_t kNear = 3;
  const auto found = table.find(name);
  if (found != table.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, runs] : table) names.push_back(known);
  std::ranges::stable_sort(names, {}, [&](auto& known) { return edit_distance(name, known); });
  names.resize(std::min(names.size(), kNear));
  throw_user_error("no benchmark is called {}; near it are {}; --list lists all", name,
                   fmt::join(names, ", "));
}

const std::vector<BenchmarkScale>& benchmark_scales() {
  static const std::vector<BenchmarkScale> scales = {{"tiny",
                                                      {{"hidden_size", 128},
                                                       {"num_hidden_layers", 2},
                                                       {"num_attention_heads", 2},
                                                       {"intermediate_size", 512},
                                                       {"vocab_size", 2048},
                                                       {"seq_length", 128},
                                                       {"max_predictions_per_seq", 20},
                                                       {"global_batch_size", 8},
                                                       {"num_train_steps", 4},
                                                       {"steps_per_logs", 1},
                                                       {"num_iter", 20}}},
                                                     {"small",
                                                      {{"hidden_size", 512},
                                                       {"num_hidden_layers", 4},
                                                       {"num_attention_heads", 8},
                                                       {"intermediate_size", 2048},
                                                       {"global_batch_size", 32},
                                                       {"num_train_steps", 4},
                                                       {"steps_per_logs", 1},
                                                       {"num_iter", 100}}},
                                                     {"model",
                                                      {{"global_batch_size", 32},
                                                       {"num_train_steps", 4},
                                                       {"steps_per_logs", 1},
                                                       {"num_iter", 100}}},
                                                     {"original", {}}};
  return scales;
}

}  // namespace cloze::cli
