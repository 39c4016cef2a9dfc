#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/whole_number.h"
#include "cli/benchmark/benchmark_table.h"
#include "cli/benchmark/generated_text.h"
#include "cli/console/exit_code.h"
#include "cli/inference/latency_command.h"
#include "cli/options/commands.h"
#include "cli/options/shipped_files.h"
#include "cli/program.h"
#include "cli/run/batch_plan.h"
#include "configuration/import.h"
#include "formats/json.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name;
  bool list = false;
  BenchmarkScale scale = benchmark_scales().front();
  fs::path configs_dir;
  fs::path datasets_dir;
  fs::path save_path = "benchmarks";
};

const BenchmarkScale& scale_named(const std::string& name) {
  return *std::ranges::find(benchmark_scales(), name, &BenchmarkScale::name);
}

void add_options(OptionTable& table, Options& o) {
  std::vector<std::string> scales;
  for (const BenchmarkScale& scale : benchmark_scales()) scales.push_back(scale.name);
  table.add("name", &o.name, "Name of the benchmark", {.is_positional = true});
  table.add("list", &o.list, "Print all names and what they run");
  table.add(
      "scale", named(o.scale, scale_named, [](const BenchmarkScale& scale) { return scale.name; }),
      "How far it is scaled down: to a model size, to a batch and a number of steps, or not at all",
      {.choices = scales});
  table.add("configs_dir", &o.configs_dir,
            "Folder of benchmarks.yml and the configurations (those that come with cloze)");
  table.add("datasets_dir", &o.datasets_dir,
            "Folder of real data, $DATASETS_DIR of benchmarks.yml; without it, data are generated");
  table.add("save_path", &o.save_path, "Folder for the runs and for generated data");
}

void print_list(const BenchmarkTable& table) {
  for (const auto& [name, runs] : table) {
    fmt::print("{}\n", name);
    for (const BenchmarkRun& run : runs) fmt::print("  {}\n", run.text());
  }
}

// What its configuration says, in our names.
formats::Json configured(const fs::path& file) {
  const configuration::ForeignFile read = configuration::read_foreign_files({file});
  const configuration::ForeignSystem& system = configuration::recognised_system(read);
  formats::Json options = configuration::converted(system, read).options();
  options["global_batch_size"] = sequences_of_a_step(options);
  return options;
}

int64_t whole_number(const std::string& option, const std::string& text) {
  if (const auto number = number_in<int64_t>(text)) return *number;
  throw_user_error("{} is {}; it must be a whole number", option, text);
}

// Lowers values above the scale, and says so.
void scale_down(BenchmarkRun& run, const formats::Json& config, const BenchmarkScale& scale) {
  std::vector<std::string> changes;
  for (const auto& [name, most] : scale.most) {
    const auto given = run.options.find(name);
    formats::Json there = config.value(name, formats::Json());
    if (given != run.options.end()) there = whole_number(name, given->second);
    const bool is_open_ended = there.is_null() && name == "num_train_steps";
    if (!is_open_ended && (!there.is_number() || there.get<double>() <= most)) continue;
    run.options[name] = std::to_string(most);
    changes.push_back(fmt::format("{} {} -> {}", name, formats::json_line(there), most));
  }
  if (!scale.most.empty() && run.options.erase("init_checkpoint") > 0) {
    changes.emplace_back("random weights");
  }
  if (!changes.empty()) fmt::print("scaled to {}: {}\n", scale.name, fmt::join(changes, ", "));
}

constexpr const char* kDatasets = "$DATASETS_DIR";

void take_generated_text(BenchmarkRun& run, const fs::path& made) {
  write_generated_text(made);
  run.options["vocab_file"] = made / "vocab.txt";
  if (run.command == "glue") {
    run.options["data_dir"] = made / "MRPC";
    return;
  }
  run.options["train_file"] = made / "squad-train.json";
  run.options["predict_file"] = made / "squad-dev.json";
}

// Puts the folder of real data in the place of $DATASETS_DIR; without one (""), has the command
// make its data, or writes questions or pairs of sentences to `made`.
void give_data(BenchmarkRun& run, const fs::path& datasets, const fs::path& made) {
  for (auto& [name, value] : run.options) {
    const size_t at = value.find(kDatasets);
    if (at == std::string::npos) continue;
    if (!datasets.empty()) {
      value.replace(at, std::string(kDatasets).size(), datasets.string());
      continue;
    }
    fmt::print("data: generated, as no --datasets-dir is given\n");
    if (run.command != "pretrain") return take_generated_text(run, made);
    run.options.erase(name);
    run.options["generated_data"] = "true";
    return;
  }
}

void run_command(const BenchmarkRun& run) {
  std::vector<std::string> words = {"cloze", run.command};
  for (const auto& [name, value] : run.options) words.push_back(flag_name(name) + "=" + value);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::fflush(stdout);  // its messages come after
  const int status = run_program(static_cast<int>(arguments.size()), arguments.data());
  if (status != 0) throw EarlyExit{static_cast<ExitCode>(status)};
}

// The losses and accuracies of the last step; the mean speed of those after the first ones, which
// are slower.
void print_training(const fs::path& folder, const std::string& command) {
  const size_t skipped = command == "pretrain" ? 3 : 2;
  std::vector<formats::Json> steps;
  std::ifstream lines(folder / "metrics.jsonl");
  for (std::string line; std::getline(lines, line);) {
    formats::Json step = formats::Json::parse(line);
    if (step.contains("step")) steps.push_back(std::move(step));
  }
  CLOZE_CHECK(!steps.empty(), "no step in {}", folder.string());
  double sum = 0.0;
  const size_t first = std::min(skipped, steps.size() - 1);
  for (size_t i = first; i < steps.size(); ++i) {
    sum += steps[i].at("sequences_per_second").get<double>();
  }
  fmt::print("throughput: {:.2f} samples/sec\n", sum / static_cast<double>(steps.size() - first));
  for (const char* name : {"mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy"}) {
    if (steps.back().contains(name)) fmt::print("{}: {}\n", name, steps.back()[name].dump());
  }
}

// Measures the latency of a model of this configuration, trained for one step.
void run_latency_of(BenchmarkRun run, const fs::path& folder) {
  const auto take = [&](const char* name, int64_t otherwise) {
    const auto node = run.options.extract(name);
    return node.empty() ? otherwise : whole_number(name, node.mapped());
  };
  LatencyCommand command;
  command.model.checkpoint = folder;
  command.latency.calls_per_client = take("num_iter", 10000);
  command.latency.num_clients = static_cast<int>(take("clients", 2));
  command.sequence_length = whole_number("seq_length", run.options.at("seq_length"));
  run.options["do_training"] = "true";
  run.command = "squad";
  run.options.insert_or_assign("num_train_steps", "1");
  run.options.insert_or_assign("global_batch_size", "1");
  run_command(run);
  const inference::LatencyRun measured = run_latency(command);
  const inference::LatencySummary summary = inference::summarize(measured.seconds);
  fmt::print("latency: {:.3f} ms\nlatency_99: {:.3f} ms\nlatency_99_9: {:.3f} ms\n",
             1e3 * summary.mean, 1e3 * summary.p99, 1e3 * summary.p999);
  fmt::print("throughput: {:.2f} samples/sec\n",
             static_cast<double>(measured.sequences) / measured.elapsed);
}

// A benchmark starts afresh each time. Only a folder that holds a run is cleared.
void clear_earlier_run(const fs::path& folder) {
  std::error_code error;
  const bool is_of_a_run =
      fs::exists(folder / "metrics.jsonl", error) || !train::checkpoint_steps(folder).empty();
  if (is_of_a_run) fs::remove_all(folder, error);
  if (error) {
    throw_user_error("{} holds an earlier run and cannot be cleared ({}); choose another save_path",
                     folder.string(), error.message());
  }
}

void run_one(BenchmarkRun run, const fs::path& folder, const Options& o) {
  fmt::print("{}\n", run.text());
  if (!run.options.contains("config")) {
    throw_user_error("{} has no --config; name the configuration it runs", run.text());
  }
  const fs::path config = o.configs_dir / run.options["config"];
  const formats::Json there = configured(config);
  scale_down(run, there, o.scale);
  give_data(run, o.datasets_dir, o.save_path / "data");
  run.options["config"] = config;
  run.options["save_path"] = folder;
  clear_earlier_run(folder);
  if (run.command == "latency") {
    run.options.try_emplace("seq_length", there.value("seq_length", formats::Json(128)).dump());
    return run_latency_of(std::move(run), folder);
  }
  run_command(run);
  print_training(folder, run.command);
}

// The folder configs where one works, if it has benchmarks; else the one that comes with cloze.
fs::path default_configs() {
  const fs::path here = "configs";
  return fs::exists(here / "benchmarks.yml") ? here : shipped_folder().value_or(here);
}

void run(Options& o) {
  if (o.configs_dir.empty()) o.configs_dir = default_configs();
  const fs::path file = o.configs_dir / "benchmarks.yml";
  if (!fs::exists(file)) {
    throw_user_error("there is no {}; name cloze's folder configs with --configs-dir",
                     file.string());
  }
  const BenchmarkTable table = read_benchmarks(file);
  if (o.list) return print_list(table);
  if (o.name.empty()) throw_user_error("no benchmark is named; --list lists all");
  int number = 0;
  for (const BenchmarkRun& one : benchmark_named(table, o.name)) {
    run_one(one, o.save_path / o.name / std::to_string(++number), o);
  }
}

}  // namespace

void add_benchmark(Subcommand program) {
  program.add_command("benchmark",
                      {"Run a benchmark of another system, or one of ours, by name",
                       "cloze benchmark bert_tiny_pretrain"},
                      add_options, run);
}

}  // namespace cloze::cli
