#include "cli/inference/compile.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "cli/inference/inference_options.h"
#include "cli/memory_forecast.h"
#include "inference/compiled_model.h"
#include "inference/inference_memory.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string checkpoint;
  std::string output_file;
  CompileFlags flags;
};

void run(const Options& options) {
  const inference::CompileOptions how = compile_options(options.flags);
  inference::PretrainedModel trained = open_trained_model(options.checkpoint);
  const inference::InferenceMemory needed =
      inference::inference_memory(trained.config, trained.head, how, engine::resolved_threads(0));
  MemoryForecast memory;
  memory.add("weights", needed.weights_bytes);
  memory.add("the largest parameter", needed.loading_bytes);
  fmt::print(stderr, "{}\n", memory.text());
  const auto model = compile_model(std::move(trained), how);
  model.write(options.output_file);
  fmt::print("{}: {}, {:.1f} MiB\n", options.output_file,
             models::architecture_of(model.head().kind),
             static_cast<double>(std::filesystem::file_size(options.output_file)) / (1 << 20));
}

}  // namespace

void add_compile(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "compile", "Store a model with its weights packed for this machine, to infer with");
  const auto options = std::make_shared<Options>();
  command.add_option("--init-checkpoint", options->checkpoint, std::string("The ") + kModelHelp)
      .required();
  command.add_option("--output-file", options->output_file, "The compiled model to write")
      .required();
  add_compile_flags(command, options->flags);
  add_device_options(command, options->flags.device);
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
