// bench_step: times a pre-training step of a configuration on random sequences, of full length or
// as long as a histogram of lengths says.
//
//   bench_step --config bench/base_128.json --batch 32 [--dtype bf16] [--steps 5]
//   bench_step --config bench/base_512.json --lengths tests/fixtures/lengths/wikipedia_512.tsv
//              [--padded]
//   bench_step --config configs/bert_large.json --device cuda --tokens-per-micro-batch 65536
//
// Prints sequences/s, real tokens/s, useful GFLOP/s (models/bert_flops.h) and the percent of the
// matrix-product ceiling, which is measured beside every step on the same device and threads; and
// a table of operators. With --serve it prints "ready" when warm and answers each line "run" on
// standard input with one JSON line, so that scripts/bench_step can let it take turns with a peer.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "base/bfloat16.h"
#include "base/seconds.h"
#include "checkpoints/hugging_face_config.h"
#include "data/generated_dataset.h"
#include "data/loader.h"
#include "data/packer.h"
#include "engine/devices.h"
#include "formats/json.h"
#include "models/bert_flops.h"
#include "natural_lengths.h"
#include "ops/linear.h"
#include "serve.h"
#include "train/training_step.h"

namespace {

using namespace cloze;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string config;
  int64_t batch = 0, seq_length = 0;
  int64_t tokens_per_micro_batch = 0;
  std::string lengths;  // histogram; empty: all sequences are full
  bool padded = false;
  std::string dtype = "f32";
  std::string optimizer = "lamb";
  std::string device = "cpu";  // engine/devices.h
  int threads = 0;
  int steps = 3;
  bool serve = false;

  engine::CompileOptions compile() const {
    return {.device = device, .target = {.threads = threads}};
  }
  DType compute_dtype() const { return dtype == "bf16" ? DType::kBF16 : DType::kF32; }
};

// The matrix product at its best: y [4096, 3072] = x [4096, 768] w^T on the same device and threads.
// Zeros would flatter a card, which is faster on them.
class Ceiling {
 public:
  explicit Ceiling(const Arguments& arguments) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {arguments.compute_dtype(), {kRows, kInner}});
    const auto w = graph.add_input("w", {DType::kF32, {kOuter, kInner}});
    graph.mark_output(ops::linear(graph, {.x = x, .weight = w}), "y");
    session_.emplace(std::move(graph), arguments.compile());
    const std::vector<float> numbers = random_numbers(kRows * kInner);
    if (arguments.compute_dtype() == DType::kBF16) {
      session_->write<bfloat16>("x", std::vector<bfloat16>(numbers.begin(), numbers.end()));
    } else {
      session_->write<float>("x", numbers);
    }
    session_->write<float>("w", random_numbers(kOuter * kInner));
    measure();
  }

  double measure() {
    const auto start = Clock::now();
    session_->run(graph::kMicroStep);
    session_->finish();
    const double flops = 2.0 * kRows * kInner * kOuter / seconds_since(start);
    best_ = std::max(best_, flops);
    return best_;
  }

 private:
  static constexpr int64_t kRows = 4096, kInner = 768, kOuter = 3072;

  static std::vector<float> random_numbers(size_t count) {
    std::minstd_rand generator(1);
    std::uniform_real_distribution<float> between(-1, 1);
    std::vector<float> numbers(count);
    for (float& number : numbers) number = between(generator);
    return numbers;
  }

  std::optional<engine::Session> session_;
  double best_ = 0.0;
};

class StepBench {
 public:
  explicit StepBench(const Arguments& arguments)
      : config_(formats::read_json_file(arguments.config)),
        model_(checkpoints::bert_config_from_json(config_, arguments.config)),
        length_(arguments.seq_length > 0 ? arguments.seq_length
                                         : config_.value("seq_length", int64_t{128})),
        predictions_(config_.value("max_predictions_per_seq", int64_t{20})),
        batch_size_(arguments.batch > 0 ? arguments.batch
                                        : config_.value("micro_batch_size", int64_t{1})),
        is_padded_(arguments.padded),
        capacity_(capacity(arguments)),
        step_(options(arguments)),
        ceiling_(arguments) {
    step_.session().initialize_parameters(1);
    if (!arguments.lengths.empty()) natural_.emplace(arguments.lengths, contents());
  }

  formats::Json run() {
    const Work work = first_work();
    const data::StepBatch& batch = work.batch;
    const auto start = Clock::now();
    const train::StepResult result = step_.run(batch, step_number_++, 1e-4);
    const double seconds = seconds_since(start);
    const double ceiling = ceiling_.measure();
    const double flops = models::training_flops(model_, work.useful) / seconds;
    return {{"seconds", seconds},
            {"sequences", batch.num_sequences},
            {"sequences_per_second", static_cast<double>(batch.num_sequences) / seconds},
            {"tokens_per_second", work.useful.tokens / seconds},
            {"filled_percent", 100.0 * work.useful.tokens / static_cast<double>(slots(batch))},
            {"useful_gflops", flops / 1e9},
            {"ceiling_gflops", ceiling / 1e9},
            {"ceiling_percent", 100.0 * flops / ceiling},
            {"loss", result.loss()}};
  }

  void print_operators();
  void set_profiling() { step_.session().executor().set_profiling(true); }

 private:
  // What a step computes, and what of it counts: padding does not.
  struct Work {
    data::StepBatch batch;
    models::BatchWork useful;
  };

  data::MicroBatchCapacity capacity(const Arguments& arguments) const {
    const int64_t all_tokens = batch_size_ * length_;
    const int64_t wanted =
        arguments.tokens_per_micro_batch > 0 ? arguments.tokens_per_micro_batch : 4096;
    const int64_t sequences = std::max<int64_t>(1, std::min(wanted, all_tokens) / length_);
    data::MicroBatchCapacity capacity{.tokens = sequences * length_,
                                      .sequences = sequences,
                                      .predictions = sequences * predictions_};
    if (!arguments.lengths.empty() && !arguments.padded) {
      // As `cloze pretrain` leaves room for short sequences (cli/run/pretrain_options.h).
      capacity.sequences *= 8;
      capacity.predictions += capacity.predictions / 4;
    }
    return capacity;
  }

  train::TrainingStepOptions options(const Arguments& arguments) const {
    return {.model = model_,
            .capacity = capacity_,
            .optimizer = {.name = arguments.optimizer, .weight_decay_rate = 0.01},
            .compute_dtype = arguments.compute_dtype(),
            .compile = arguments.compile()};
  }

  data::GeneratedOptions contents() const {
    return {.sequence_length = length_,
            .max_predictions = predictions_,
            .vocabulary_size = model_.vocab_size};
  }

  // The same samples in every step, like the peer's, so that the best of several steps compares
  // equal work.
  Work first_work() const {
    if (natural_) {
      const auto step = natural_->step(0, batch_size_, is_padded_);
      data::StepBatch batch = data::pack(step.samples, capacity_);
      const auto predictions = static_cast<double>(batch.num_predictions);
      return {.batch = std::move(batch),
              .useful = {.tokens = static_cast<double>(step.real_tokens),
                         .squared_lengths = static_cast<double>(step.real_squared_lengths),
                         .predictions = predictions}};
    }
    const auto dataset = std::make_shared<data::GeneratedDataset>(contents());
    data::StepBatch batch = data::load_step(
        {.dataset = dataset, .global_batch_size = batch_size_, .capacity = capacity_}, 0);
    const models::BatchWork useful{
        .tokens = static_cast<double>(batch.num_tokens),
        .squared_lengths = static_cast<double>(batch.num_sequences * length_ * length_),
        .predictions = static_cast<double>(batch.num_predictions)};
    return {.batch = std::move(batch), .useful = useful};
  }

  int64_t slots(const data::StepBatch& batch) const {
    return std::ssize(batch.micro_batches) * capacity_.tokens;
  }

  formats::Json config_;
  models::BertConfig model_;
  int64_t length_, predictions_, batch_size_;
  bool is_padded_;
  data::MicroBatchCapacity capacity_;
  train::TrainingStep step_;
  Ceiling ceiling_;
  std::optional<bench::NaturalLengths> natural_;
  int64_t step_number_ = 0;
};

void StepBench::print_operators() {
  struct Row {
    double seconds = 0.0, flops = 0.0;
    int64_t calls = 0;
  };
  std::map<std::string, Row> rows;
  double total = 0.0;
  for (const auto& launch : step_.session().executor().profile()) {
    Row& row = rows[std::string(launch.op) + "  " + std::string(launch.kernel_name)];
    row.seconds += launch.seconds;
    row.flops += launch.flops * static_cast<double>(launch.calls);
    row.calls += launch.calls;
    total += launch.seconds;
  }
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  fmt::print("\n{:<72} {:>7} {:>8} {:>7} {:>9}\n", "operator and kernel", "share", "ms", "calls",
             "GFLOP/s");
  for (const auto& [name, row] : sorted) {
    fmt::print("{:<72} {:>6.1f}% {:>8.1f} {:>7} {:>9.1f}\n", name, 100.0 * row.seconds / total,
               row.seconds * 1e3, row.calls, row.flops / row.seconds / 1e9);
  }
}

void print_steps(StepBench& bench, int steps) {
  bench.set_profiling();
  for (int i = 0; i < steps; ++i) {
    const formats::Json row = bench.run();
    fmt::print("{:.2f} sequences/s  {:.0f} tokens/s  {:.1f} useful GFLOP/s  {:.1f} % of {:.1f}\n",
               row["sequences_per_second"].get<double>(), row["tokens_per_second"].get<double>(),
               row["useful_gflops"].get<double>(), row["ceiling_percent"].get<double>(),
               row["ceiling_gflops"].get<double>());
    std::fflush(stdout);
  }
  bench.print_operators();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times a pre-training step", "bench_step");
  Arguments arguments;
  app.add_option("--config", arguments.config, "configuration (JSON)")->required();
  app.add_option("--batch", arguments.batch, "sequences per step; default: micro_batch_size");
  app.add_option("--seq-length", arguments.seq_length, "default: the configuration's");
  app.add_option("--tokens-per-micro-batch", arguments.tokens_per_micro_batch, "default 4096");
  CLI::Option* lengths = app.add_option("--lengths", arguments.lengths,
                                        "histogram of lengths (TSV); default: all are full");
  app.add_flag("--padded", arguments.padded, "one sequence per row, padded to full length")
      ->needs(lengths);
  app.add_option("--dtype", arguments.dtype)->check(CLI::IsMember({"f32", "bf16"}));
  app.add_option("--optimizer", arguments.optimizer)->check(CLI::IsMember({"lamb", "adamw"}));
  app.add_option("--device", arguments.device, "default: cpu");
  app.add_option("--threads", arguments.threads, "0: all processors");
  app.add_option("--steps", arguments.steps, "timed steps without --serve");
  app.add_flag("--serve", arguments.serve, "one step for each line \"run\" on standard input");
  CLI11_PARSE(app, argc, argv);
  try {
    StepBench step(arguments);
    step.run();  // warm
    arguments.serve ? bench::serve(step) : print_steps(step, arguments.steps);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_step: {}\n", error.what());
    return 1;
  }
  return 0;
}
