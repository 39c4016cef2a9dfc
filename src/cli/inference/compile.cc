#include "cli/inference/compile.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/inference/inference_options.h"
#include "inference/compiled_model.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string checkpoint;
  std::string output_file;
  CompileFlags flags;
};

void run(const Options& options) {
  const auto model = compile_model(options.checkpoint, compile_options(options.flags));
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
  add_instruction_set(command);
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
