#include "tasks/squad/squad_answering.h"

#include <algorithm>

namespace cloze::tasks {
namespace {

constexpr size_t kWindowsAtOnce = 1024;  // with their sequences in memory

// The logits of all windows, one after the other, and where each one's begin.
struct LogitTable {
  std::vector<float> start, end;
  std::vector<size_t> first;

  std::vector<SquadLogits> views() const {
    std::vector<SquadLogits> views;
    for (size_t w = 0; w + 1 < first.size(); ++w) {
      const size_t length = first[w + 1] - first[w];
      views.push_back(
          {std::span(start).subspan(first[w], length), std::span(end).subspan(first[w], length)});
    }
    return views;
  }
};

// Appends the logits of the windows from `first_window` on, whose sequences are `samples`.
void append_logits(inference::InferenceClient& client, std::span<const data::Sample> samples,
                   LogitTable& table) {
  const size_t first_window = table.first.size() - 1;
  for (const data::Sample& sample : samples) {
    table.first.push_back(table.first.back() + sample.input_ids.size());
  }
  table.start.resize(table.first.back());
  table.end.resize(table.first.back());
  client.run_each(samples, [&](size_t sample, std::span<const float> logits) {
    size_t place = table.first[first_window + sample];
    for (size_t i = 0; i < logits.size(); i += 2, ++place) {
      table.start[place] = logits[i];
      table.end[place] = logits[i + 1];
    }
  });
}

LogitTable logits_of(inference::InferenceClient& client, const SquadData& data,
                     const SquadFeatures& features) {
  LogitTable table{.start = {}, .end = {}, .first = {0}};
  for (size_t begin = 0; begin < features.windows.size(); begin += kWindowsAtOnce) {
    const size_t end = std::min(begin + kWindowsAtOnce, features.windows.size());
    std::vector<data::Sample> samples;
    for (size_t w = begin; w < end; ++w) {
      samples.push_back(squad_sample(data, features, features.windows[w]));
    }
    append_logits(client, samples, table);
  }
  return table;
}

}  // namespace

std::vector<SquadPrediction> answer_squad(inference::InferenceClient& client, const SquadData& data,
                                          const SquadFeatures& features,
                                          const SquadPredictionOptions& options) {
  const LogitTable table = logits_of(client, data, features);
  const SquadPredictor predictor(data, features, client.model().tokenizer(), options);
  return predict_squad(predictor, features, table.views(), client.num_threads());
}

}  // namespace cloze::tasks
