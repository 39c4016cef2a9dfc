#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "forecast/memory_forecast.h"
#include "inference/inference_memory.h"
#include "inference/packed_model.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string output_file;
};

// A model's file may lie beside others that belong to it.
void check_replaced(const std::filesystem::path& output) {
  std::error_code missing;
  const bool has_content = std::filesystem::file_size(output, missing) > 0 && !missing;
  if (has_content && !inference::PackedModel::is_packed(output)) {
    throw_user_error("{} exists and is not a packed model; name another file, or delete it first",
                     output.string());
  }
}

void run(const Options& options) {
  platform::require_other_files(
      {.inputs = {options.model.checkpoint}, .outputs = {options.output_file}});
  check_replaced(options.output_file);
  const inference::PackOptions how = on_chosen_machine(options.model);
  inference::PretrainedModel trained = open_trained_model(options.model.checkpoint);
  const inference::InferenceMemory needed =
      inference::inference_memory(trained.config, trained.head, how, platform::resolved_threads(0));
  forecast::MemoryForecast memory;
  memory.use_card(card_memory(how.device));
  memory.add_to_device("weights", needed.weights_bytes);
  memory.add_to_device("the largest parameter", needed.loading_bytes);
  say("{}\n", memory.text());
  const auto model = compile_model(std::move(trained), how);
  model.write(options.output_file);
  fmt::print("{}: {}, {:.1f} MiB\n", options.output_file, model.pretrained().architecture(),
             mebibytes(std::filesystem::file_size(options.output_file)));
}

void add_options(OptionTable& table, Options& o) {
  table.add("init_checkpoint", &o.model.checkpoint, std::string("The ") + kModelHelp,
            {.is_required = true});
  table.add("output_file", &o.output_file, "The packed model to write", {.is_required = true});
  add_packing_options(table, o.model.compile);
  add_device_options(table, o.model);
}

}  // namespace

void add_compile(Subcommand program) {
  program.add_command("compile",
                      {"Store a model with its weights packed for inference on this machine",
                       "cloze compile --init-checkpoint run --output-file run.cloze"},
                      add_options, run);
}

}  // namespace cloze::cli
