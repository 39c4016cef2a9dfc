// Runs a packed model call after call, for scripts/bench_latency to compare with others.
//
//   bench_latency --program model.cloze --seq-length 128 --threads 1 --num-iter 5
//
// Prints one JSON line per run: {"seconds": [of each call], "floor_seconds": [of each call],
// "sequences": N, "tokens": real ones}; the floor is what the multiply-adds of the call would take
// at the peak of the processor as measured right after it. With --serve it answers each line "run"
// on standard input with one such line (serve.h).
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "base/seconds.h"
#include "fma_peak.h"
#include "formats/json.h"
#include "inference/inference_client.h"
#include "inference/latency.h"
#include "models/bert_flops.h"
#include "serve.h"

namespace {

using namespace cloze;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string program;
  std::string lengths;
  int64_t sequence_length = 128;
  int64_t batch_size = 1;
  int64_t calls = 1;
  int threads = 1;
  bool serve = false;
};

class LatencyBench {
 public:
  explicit LatencyBench(const Options& options)
      : options_(options),
        client_(std::make_shared<const inference::PackedModel>(
                    inference::PackedModel::open(options.program)),
                options.threads),
        samples_(client_.model(), options.sequence_length, options.lengths) {
    constexpr int kWarmUpCalls = 3;
    for (int i = 0; i < kWarmUpCalls; ++i) call(next_batch());
  }

  formats::Json run() {
    std::vector<double> seconds, floor_seconds;
    int64_t tokens = 0;
    for (int64_t i = 0; i < options_.calls; ++i) {
      const std::vector<data::Sample> samples = next_batch();
      const models::BatchWork work = work_of(samples);
      tokens += static_cast<int64_t>(work.tokens);
      const Clock::time_point start = Clock::now();
      call(samples);
      seconds.push_back(seconds_since(start));
      const double peak = 1e9 * bench::fma_peak_gflops(options_.threads);
      floor_seconds.push_back(models::forward_flops(client_.model().config(), work) / peak);
    }
    return {{"seconds", seconds},
            {"floor_seconds", floor_seconds},
            {"sequences", options_.calls * options_.batch_size},
            {"tokens", tokens}};
  }

 private:
  static models::BatchWork work_of(const std::vector<data::Sample>& samples) {
    models::BatchWork work;
    for (const data::Sample& sample : samples) {
      const auto length = static_cast<double>(sample.input_ids.size());
      work.tokens += length;
      work.squared_lengths += length * length;
    }
    return work;
  }

  void call(const std::vector<data::Sample>& samples) {
    client_.run(samples, [](const data::MicroBatch&) {});
  }

  std::vector<data::Sample> next_batch() {
    first_ += options_.batch_size;
    return samples_.batch(first_ - options_.batch_size, options_.batch_size);
  }

  Options options_;
  inference::InferenceClient client_;
  inference::MadeUpSamples samples_;
  int64_t first_ = 0;  // sample of the next batch
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times a packed model, call after call");
  Options options;
  app.add_option("--program", options.program, "Packed model")->required();
  app.add_option("--seq-length", options.sequence_length, "Tokens per sequence");
  app.add_option("--lengths", options.lengths, "Histogram of lengths, instead");
  app.add_option("--batch-size", options.batch_size, "Sequences per call");
  app.add_option("--threads", options.threads, "Threads");
  app.add_option("--num-iter", options.calls, "Calls of a run");
  app.add_flag("--serve", options.serve, "Run when a line says so");
  CLI11_PARSE(app, argc, argv);
  LatencyBench latency(options);
  if (options.serve) {
    bench::serve(latency);
  } else {
    fmt::print("{}\n", latency.run().dump());
  }
  return 0;
}
