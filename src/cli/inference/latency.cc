#include "cli/inference/latency.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "cli/inference/inference_options.h"
#include "data/packing/spread_lengths.h"
#include "inference/latency.h"
#include "platform/file.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string checkpoint;
  std::string program;
  std::string precision = "f32";
  int64_t sequence_length = 128;
  std::string lengths_file;
  int64_t batch_size = 1;
  int threads = 1;
  int clients = 2;
  int64_t calls = 1000;
  bool dumps_raw_timings = false;
};

inference::CompiledModel open_model(const Options& options) {
  if (options.program.empty() == options.checkpoint.empty()) {
    throw_user_error("give --program or --init-checkpoint");
  }
  if (!options.program.empty()) return inference::CompiledModel::open(options.program);
  return inference::CompiledModel::compile(model_path(options.checkpoint),
                                           precision_named(options.precision));
}

// Made-up batches: random tokens, two segments, one blank where blanks are filled in.
class Batches {
 public:
  Batches(const Options& options, const inference::CompiledModel& model)
      : options_(options), config_(model.config()), head_(model.head()) {
    if (!options.lengths_file.empty()) {
      lengths_.emplace(data::read_length_histogram(options.lengths_file));
    }
    const int64_t longest = lengths_ ? lengths_->longest() : options.sequence_length;
    if (longest > config_.max_position_embeddings) {
      throw_user_error("sequences of {} tokens; the model has {} positions", longest,
                       config_.max_position_embeddings);
    }
  }

  std::vector<data::Sample> batch(int64_t call) const {
    std::vector<data::Sample> samples;
    for (int64_t i = 0; i < options_.batch_size; ++i) {
      samples.push_back(sample(call * options_.batch_size + i));
    }
    return samples;
  }

 private:
  data::Sample sample(int64_t index) const {
    constexpr uint64_t kSeed = 1;
    const int64_t length = lengths_ ? lengths_->length(index) : options_.sequence_length;
    PhiloxStream random(kSeed, static_cast<uint64_t>(index));
    data::Sample sample;
    for (int64_t i = 0; i < length; ++i) {
      sample.input_ids.push_back(
          static_cast<int32_t>(random.below(static_cast<uint32_t>(config_.vocab_size))));
      sample.token_type_ids.push_back(2 * i < length || config_.type_vocab_size < 2 ? 0 : 1);
    }
    if (head_.kind == models::HeadKind::kPretraining) {
      sample.masked_positions = {static_cast<int32_t>(length / 2)};
      sample.masked_labels = {0};
    }
    return sample;
  }

  const Options& options_;
  const models::BertConfig& config_;
  const models::BertHead& head_;
  std::optional<data::SpreadLengths> lengths_;
};

void print_run(const inference::LatencyRun& run) {
  const inference::LatencySummary summary = inference::summarize(run.seconds);
  fmt::print("latency ms: mean {:.2f}  p50 {:.2f}  p90 {:.2f}  p99 {:.2f}  p99.9 {:.2f}\n",
             1e3 * summary.mean, 1e3 * summary.p50, 1e3 * summary.p90, 1e3 * summary.p99,
             1e3 * summary.p999);
  fmt::print("throughput: {:.2f} sequences/s  {:.1f} real tokens/s\n",
             static_cast<double>(run.sequences) / run.elapsed,
             static_cast<double>(run.tokens) / run.elapsed);
}

void write_raw_timings(const inference::LatencyRun& run) {
  constexpr const char* kFile = "timings.txt";
  std::string text;
  for (const double seconds : run.seconds) text += fmt::format("{:.9f}\n", seconds);
  platform::write_file_atomically(kFile, text);
  fmt::print("{}: {} times in seconds\n", kFile, run.seconds.size());
}

void run(const Options& options) {
  const auto model = std::make_shared<const inference::CompiledModel>(open_model(options));
  const Batches batches(options, *model);
  fmt::print("{} weights, {}, batches of {}, {} clients of {} threads, {} calls each\n",
             name_of(model->precision()),
             options.lengths_file.empty() ? fmt::format("{} tokens", options.sequence_length)
                                          : "lengths of " + options.lengths_file,
             options.batch_size, options.clients, options.threads, options.calls);
  const inference::LatencyRun run =
      inference::measure_latency(model,
                                 {.num_clients = options.clients,
                                  .threads_per_client = options.threads,
                                  .calls_per_client = options.calls,
                                  .warm_up_calls = std::min<int64_t>(10, options.calls)},
                                 [&](int64_t call) { return batches.batch(call); });
  print_run(run);
  if (options.dumps_raw_timings) write_raw_timings(run);
}

}  // namespace

void add_latency(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "latency", "Measure how long a model takes to answer, with several clients at a time");
  const auto options = std::make_shared<Options>();
  command.add_option("--program", options->program, "Compiled model (cloze compile)");
  command.add_option("--init-checkpoint", options->checkpoint, kInitCheckpointHelp);
  command
      .add_option("--precision", options->precision,
                  "f32 or bf16: what weights of --init-checkpoint are packed in")
      .shows_default();
  command.add_option("--seq-length", options->sequence_length, "Tokens of a sequence")
      .at_least(1)
      .shows_default();
  command.add_option("--lengths", options->lengths_file,
                     "Histogram of lengths (length and count a line): sequences as long as those");
  command.add_option("--batch-size", options->batch_size, "Sequences of a call")
      .at_least(1)
      .shows_default();
  command.add_option("--threads", options->threads, "Threads of a client")
      .at_least(1)
      .shows_default();
  command.add_option("--clients", options->clients, "Clients that call at the same time")
      .at_least(1)
      .shows_default();
  command.add_option("--num-iter", options->calls, "Calls of each client")
      .at_least(1)
      .shows_default();
  command.add_flag("--dump-raw-timings", options->dumps_raw_timings,
                   "Write the time of each call to timings.txt, in seconds");
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
