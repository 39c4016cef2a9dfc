// Speed of the loader on a token store: opening it, and making the batch of a step near or far; and
// of drawing samples from text in lines of 20 to 10 million tokens.
// Usage: loader_bench STORE [Google Benchmark's own options]
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <exception>
#include <memory>

#include "data/corpus/array_corpus.h"
#include "data/instances/window_instances.h"
#include "data/loader.h"
#include "data/token_store/token_store_dataset.h"

namespace cloze::data {
namespace {

std::shared_ptr<const Dataset> open(const char* folder, int64_t sequence_length) {
  return std::make_shared<TokenStoreDataset>(
      std::make_shared<TokenStore>(folder),
      DrawingOptions{.pairs = {.masking = {.sequence_length = sequence_length,
                                           .max_predictions = sequence_length * 20 / 128}}});
}

LoaderOptions options_for(std::shared_ptr<const Dataset> dataset, int64_t sequence_length) {
  constexpr int64_t kBatch = 256;
  constexpr int64_t kSequencesPerPass = 32;
  return {.dataset = std::move(dataset),
          .global_batch_size = kBatch,
          .capacity = {.tokens = kSequencesPerPass * sequence_length,
                       .sequences = 2 * kSequencesPerPass,
                       .predictions = kSequencesPerPass * (sequence_length * 20 / 128)}};
}

void open_store(benchmark::State& state, const char* folder) {
  for (auto _ : state) benchmark::DoNotOptimize(open(folder, 128));
}

// From nothing to the batch of a step.
void reach_step(benchmark::State& state, const char* folder, int64_t step) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(load_step(options_for(open(folder, 128), 128), step));
  }
}

void load_steps(benchmark::State& state, const char* folder, int64_t sequence_length) {
  const LoaderOptions options = options_for(open(folder, sequence_length), sequence_length);
  int64_t step = 0;
  int64_t tokens = 0;
  for (auto _ : state) tokens += load_step(options, step++).num_tokens;
  state.SetItemsProcessed(tokens);
}

// Samples per second from ten million tokens in lines of one length.
void draw_samples(benchmark::State& state) {
  constexpr int64_t kTokens = 10'000'000;
  const VocabularyIds vocabulary{.cls = 101, .sep = 102, .mask = 103, .size = 30522};
  MemoryCorpus corpus(vocabulary.size);
  const std::vector<int32_t> line(static_cast<size_t>(state.range(0)), 2000);
  for (int64_t tokens = 0; tokens < kTokens; tokens += std::ssize(line)) {
    corpus.append_sentence(line);
  }
  corpus.end_document();
  const WindowInstances instances(corpus, vocabulary, {}, 1);
  int64_t sample = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(instances.instance(sample, 0));
    sample = (sample + 7919) % instances.size();
  }
  state.SetItemsProcessed(state.iterations());
}

void run(const char* folder) {
  benchmark::RegisterBenchmark("draw_samples", draw_samples)
      ->Arg(20)
      ->Arg(200)
      ->Arg(5'000)
      ->Arg(100'000)
      ->Arg(10'000'000)
      ->UseRealTime();
  benchmark::RegisterBenchmark("open", open_store, folder)->UseRealTime();
  benchmark::RegisterBenchmark("reach_step/1000000", reach_step, folder, 1'000'000)->UseRealTime();
  benchmark::RegisterBenchmark("load_step/128", load_steps, folder, 128)->UseRealTime();
  benchmark::RegisterBenchmark("load_step/512", load_steps, folder, 512)->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace
}  // namespace cloze::data

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    fmt::print(stderr, "usage: loader_bench STORE\n");
    return 2;
  }
  try {
    cloze::data::run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "loader_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
