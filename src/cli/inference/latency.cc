#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/console/work_display.h"
#include "cli/inference/latency_command.h"
#include "cli/options/commands.h"
#include "inference/latency.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

inference::PackedModel open_model(const LatencyCommand& options) {
  const std::filesystem::path& checkpoint = options.model.checkpoint;
  if (options.program.empty() && checkpoint.empty()) {
    throw_user_error("there is no model; give --init-checkpoint, or a packed one as --program");
  }
  const inference::PackOptions how = on_chosen_machine(options.model);
  if (!options.program.empty()) return inference::PackedModel::open(options.program, how.device);
  if (inference::PackedModel::is_packed(checkpoint)) {
    throw_user_error("{} is a packed model; give it as --program", checkpoint.string());
  }
  return compile_model(open_trained_model(checkpoint), how);
}

// Shows how many calls have begun, including the warm-up calls.
inference::LatencyRun measure(const std::shared_ptr<const inference::PackedModel>& model,
                              const inference::MadeUpSamples& samples,
                              const LatencyCommand& options) {
  inference::LatencyOptions latency = options.latency;
  latency.warm_up_calls = std::min(latency.warm_up_calls, latency.calls_per_client);
  const int64_t total = latency.num_clients * (latency.warm_up_calls + latency.calls_per_client);
  std::atomic<int64_t> begun = 0;
  const WorkDisplay display([&](double seconds) {
    const int64_t done = begun;
    return fmt::format("{:.0f} % of {} calls, {:.1f} calls/s, {} left", percent(done, total), total,
                       static_cast<double>(done) / seconds, time_left(done, total, seconds));
  });
  return inference::measure_latency(model, latency, [&](int64_t call) {
    ++begun;
    return samples.batch(call * options.batch_size, options.batch_size);
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

void run(const LatencyCommand& options) {
  const inference::LatencyRun run = run_latency(options);
  if (options.dumps_raw_timings) write_raw_timings(run);
}

void add_options(OptionTable& table, LatencyCommand& o) {
  table.add("program", &o.program, "Packed model (cloze compile)");
  table.add("init_checkpoint", &o.model.checkpoint, std::string("The ") + kModelHelp,
            {.excludes = {"program"}});
  add_packing_options(table, o.model.compile, {"program"});
  table.add("seq_length", &o.sequence_length, "Tokens per sequence", {.minimum = 1});
  table.add("lengths", &o.lengths_file,
            "Histogram of lengths (a length and a count per line) that the sequences follow",
            {.excludes = {"seq_length"}});
  table.add("batch_size", &o.batch_size, "Sequences per call", {.minimum = 1});
  table.add("threads", &o.latency.threads_per_client, "Threads per client", {.minimum = 1});
  add_device_options(table, o.model);
  table.add("clients", &o.latency.num_clients, "Clients that call at the same time",
            {.minimum = 1});
  table.add("num_iter", &o.latency.calls_per_client, "Calls per client", {.minimum = 1});
  table.add("dump_raw_timings", &o.dumps_raw_timings,
            "Write the time of each call to timings.txt, in seconds");
}

}  // namespace

inference::LatencyRun run_latency(const LatencyCommand& options) {
  const auto model = std::make_shared<const inference::PackedModel>(open_model(options));
  const inference::MadeUpSamples samples(*model, options.sequence_length, options.lengths_file);
  fmt::print("{} weights, {}, batches of {}, {} clients of {} threads, {} calls each\n",
             name_of(model->options().precision),
             options.lengths_file.empty() ? fmt::format("{} tokens", options.sequence_length)
                                          : "lengths of " + options.lengths_file,
             options.batch_size, options.latency.num_clients, options.latency.threads_per_client,
             options.latency.calls_per_client);
  const inference::LatencyRun run = measure(model, samples, options);
  print_run(run);
  return run;
}

void add_latency(Subcommand program) {
  program.add_command("latency",
                      {"Measure how long a model takes to answer, with several clients at a time",
                       "cloze latency --init-checkpoint run --seq-length 64 --clients 2"},
                      add_options, run);
}

}  // namespace cloze::cli
