#include "inference/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <exception>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/philox.h"
#include "base/seconds.h"
#include "inference/inference_client.h"

namespace cloze::inference {
namespace {

using Clock = std::chrono::steady_clock;

// The calls of one client.
struct ClientRun {
  std::vector<double> seconds;
  Clock::time_point begin;
  Clock::time_point end;
  int64_t sequences = 0;
  int64_t tokens = 0;
  std::exception_ptr error;
};

void call_once(InferenceClient& client, const std::vector<data::Sample>& samples, ClientRun& run) {
  const Clock::time_point begin = Clock::now();
  client.run(samples, [](const data::MicroBatch&) {});
  run.end = Clock::now();
  run.seconds.push_back(seconds_between(begin, run.end));
  run.sequences += std::ssize(samples);
  for (const data::Sample& sample : samples) run.tokens += std::ssize(sample.input_ids);
}

// Runs body(i) for each i < count on a thread of its own. If the system cannot start that many,
// calls give_up(number of missing threads), waits for the others and throws EnvironmentError.
template <class Body, class GiveUp>
void run_on_threads(size_t count, Body body, GiveUp give_up) {
  std::vector<std::thread> threads;
  std::string failure;
  try {
    while (threads.size() < count) threads.emplace_back(body, threads.size());
  } catch (const std::system_error& error) {
    failure = fmt::format("cannot start the thread of client {} of {}: {}; choose fewer clients",
                          threads.size() + 1, count, error.what());
    give_up(count - threads.size());
  }
  for (std::thread& thread : threads) thread.join();
  if (!failure.empty()) throw EnvironmentError(failure);
}

// All calls together. Rethrows what a client threw.
LatencyRun joined(const std::vector<ClientRun>& runs) {
  LatencyRun result;
  Clock::time_point begin = Clock::time_point::max();
  Clock::time_point end = Clock::time_point::min();
  for (const ClientRun& run : runs) {
    if (run.error) std::rethrow_exception(run.error);
    result.seconds.insert(result.seconds.end(), run.seconds.begin(), run.seconds.end());
    result.sequences += run.sequences;
    result.tokens += run.tokens;
    begin = std::min(begin, run.begin);
    end = std::max(end, run.end);
  }
  result.elapsed = seconds_between(begin, end);
  return result;
}

double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

MadeUpSamples::MadeUpSamples(const PackedModel& model, int64_t length,
                             const std::filesystem::path& histogram)
    : config_(model.config()), has_blank_(model.head().traits().predicts_words()), length_(length) {
  if (!histogram.empty()) lengths_.emplace(data::read_length_histogram(histogram));
  const int64_t longest = lengths_ ? lengths_->longest() : length;
  if (longest > config_.max_position_embeddings) {
    throw_user_error("sequences of {} tokens; the model has {} positions, give no more", longest,
                     config_.max_position_embeddings);
  }
}

std::vector<data::Sample> MadeUpSamples::batch(int64_t first, int64_t count) const {
  std::vector<data::Sample> samples;
  for (int64_t index = first; index < first + count; ++index) samples.push_back(sample(index));
  return samples;
}

data::Sample MadeUpSamples::sample(int64_t index) const {
  constexpr uint64_t kSeed = 1;
  const int64_t length = lengths_ ? lengths_->length(index) : length_;
  PhiloxStream random(kSeed, static_cast<uint64_t>(index));
  data::Sample sample;
  for (int64_t i = 0; i < length; ++i) {
    sample.input_ids.push_back(
        static_cast<int32_t>(random.below(static_cast<uint32_t>(config_.vocab_size))));
    sample.token_type_ids.push_back(2 * i < length || config_.type_vocab_size < 2 ? 0 : 1);
  }
  if (has_blank_) {
    sample.masked_positions = {static_cast<int32_t>(length / 2)};
    sample.masked_labels = {0};
  }
  return sample;
}

LatencyRun measure_latency(const std::shared_ptr<const PackedModel>& model,
                           const LatencyOptions& options,
                           const std::function<std::vector<data::Sample>(int64_t)>& batch) {
  std::vector<ClientRun> runs(static_cast<size_t>(options.num_clients));
  std::barrier all_warm(options.num_clients);
  std::atomic<bool> is_given_up = false;
  const auto serve = [&](size_t index) {
    ClientRun& run = runs[index];
    const int64_t first = static_cast<int64_t>(index) * options.calls_per_client;
    try {
      InferenceClient client(model, options.threads_per_client);
      for (int64_t i = 0; i < options.warm_up_calls && !is_given_up; ++i) {
        client.run(batch(first + i), [](const data::MicroBatch&) {});
      }
      all_warm.arrive_and_wait();
      run.begin = Clock::now();
      for (int64_t i = 0; i < options.calls_per_client && !is_given_up; ++i) {
        call_once(client, batch(first + i), run);
      }
    } catch (...) {
      run.error = std::current_exception();
      all_warm.arrive_and_drop();
    }
  };
  run_on_threads(runs.size(), serve, [&](size_t num_missing) {
    is_given_up = true;
    for (; num_missing > 0; --num_missing) all_warm.arrive_and_drop();
  });
  return joined(runs);
}

LatencySummary summarize(std::vector<double> seconds) {
  CLOZE_CHECK(!seconds.empty(), "no call was measured");
  std::ranges::sort(seconds);
  return {.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) /
                  static_cast<double>(seconds.size()),
          .p50 = percentile(seconds, 0.5),
          .p90 = percentile(seconds, 0.9),
          .p99 = percentile(seconds, 0.99),
          .p999 = percentile(seconds, 0.999)};
}

}  // namespace cloze::inference
