#include "cli/inference/latency.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/inference/inference_options.h"
#include "cli/work_display.h"
#include "inference/latency.h"
#include "inference/made_up_samples.h"
#include "platform/file.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string checkpoint;
  std::string program;
  CompileFlags flags;
  int64_t sequence_length = 128;
  std::string lengths_file;
  int64_t batch_size = 1;
  int threads = 1;
  int clients = 2;
  int64_t calls = 1000;
  bool dumps_raw_timings = false;
};

inference::CompiledModel open_model(const Options& options) {
  if (options.program.empty() && options.checkpoint.empty()) {
    throw_user_error("give --program or --init-checkpoint");
  }
  if (!options.program.empty())
    return inference::CompiledModel::open(options.program, options.flags.device);
  return compile_model(open_trained_model(options.checkpoint), compile_options(options.flags));
}

// Shows how many calls were begun, the warming ones too.
inference::LatencyRun measure(const std::shared_ptr<const inference::CompiledModel>& model,
                              const inference::MadeUpSamples& samples, const Options& options) {
  const int64_t warm_up_calls = std::min<int64_t>(10, options.calls);
  const auto total = static_cast<double>(options.clients * (warm_up_calls + options.calls));
  std::atomic<int64_t> begun = 0;
  const WorkDisplay display([&](double seconds) {
    const auto done = static_cast<double>(begun.load());
    return fmt::format("{:.0f} % of {:.0f} calls, {:.1f} calls/s, {:.0f} s left",
                       100 * done / total, total, done / seconds,
                       seconds_left(done, total, seconds));
  });
  return inference::measure_latency(model,
                                    {.num_clients = options.clients,
                                     .threads_per_client = options.threads,
                                     .calls_per_client = options.calls,
                                     .warm_up_calls = warm_up_calls},
                                    [&](int64_t call) {
                                      ++begun;
                                      return samples.batch(call * options.batch_size,
                                                           options.batch_size);
                                    });
}

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
  const inference::MadeUpSamples samples(*model, options.sequence_length, options.lengths_file);
  fmt::print("{} weights, {}, batches of {}, {} clients of {} threads, {} calls each\n",
             name_of(model->options().precision),
             options.lengths_file.empty() ? fmt::format("{} tokens", options.sequence_length)
                                          : "lengths of " + options.lengths_file,
             options.batch_size, options.clients, options.threads, options.calls);
  const inference::LatencyRun run = measure(model, samples, options);
  print_run(run);
  if (options.dumps_raw_timings) write_raw_timings(run);
}

}  // namespace

void add_latency(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "latency", "Measure how long a model takes to answer, with several clients at a time");
  const auto options = std::make_shared<Options>();
  OptionHandle program =
      command.add_option("--program", options->program, "Compiled model (cloze compile)");
  command.add_option("--init-checkpoint", options->checkpoint, kInitCheckpointHelp)
      .excludes(program);
  for (OptionHandle flag : add_compile_flags(command, options->flags)) flag.excludes(program);
  const OptionHandle sequence_length =
      command.add_option("--seq-length", options->sequence_length, "Tokens of a sequence")
          .at_least(1)
          .shows_default();
  command
      .add_option("--lengths", options->lengths_file,
                  "Histogram of lengths (length and count a line): sequences as long as those")
      .excludes(sequence_length);
  command.add_option("--batch-size", options->batch_size, "Sequences of a call")
      .at_least(1)
      .shows_default();
  command.add_option("--threads", options->threads, "Threads of a client")
      .at_least(1)
      .shows_default();
  add_device_options(command, options->flags.device);
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
