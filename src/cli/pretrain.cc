#include "cli/pretrain.h"

#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_model.h"
#include "cli/inference/inference_options.h"
#include "cli/pretrain_data.h"
#include "cli/resumed_options.h"
#include "cli/run_estimate.h"
#include "cli/training_run.h"
#include "cli/training_setup.h"
#include "models/bert_fields.h"

namespace cloze::cli {
namespace {

struct Command {
  PretrainOptions options;
  OptionTable table = pretrain_option_table(options);

  void resolve() {
    table.resolve();
    take_options_of_run(table, options);
    settle_rivals(options, table);
    if (!options.init_checkpoint.empty()) {
      options.init_checkpoint = model_path(options.init_checkpoint).string();
    }
    validate(options);
    limit_instruction_set(options);
    const std::vector<std::string> data_notes = check_data_options(options, table);
    for (const std::string& note : data_notes) fmt::print(stderr, "note: {}\n", note);
    for (const std::string& note : table.notes()) fmt::print(stderr, "note: {}\n", note);
  }
};

void print_plan(const PretrainOptions& options, bool with_kernels) {
  const train::TrainingStepOptions step = training_step_options(options);
  fmt::print("{}", describe_plan(step, batch_plan(options).sequences_per_step,
                                 memory_beside_step(options, step.capacity), with_kernels));
  fmt::print("{}", describe_run(options, product_rate(options)));
}

// Shapes of tensors say neither how many heads there are nor how numbers are computed.
void compare_with_start(const PretrainOptions& options) {
  const std::filesystem::path folder = checkpoints::folder_of(options.init_checkpoint);
  if (options.init_checkpoint.empty() || !checkpoints::has_configuration(folder)) return;
  const models::BertConfig start =
      checkpoints::read_hugging_face_config(checkpoints::configuration_of(folder));
  const models::BertConfig& model = options.model;
  if (model.num_attention_heads != start.num_attention_heads) {
    throw_user_error("num_attention_heads is {}, but {} has {}; set it to {}",
                     model.num_attention_heads, options.init_checkpoint, start.num_attention_heads,
                     start.num_attention_heads);
  }
  if (model.hidden_act != start.hidden_act || model.layer_norm_eps != start.layer_norm_eps) {
    fmt::print(stderr,
               "note: {} was computed with hidden_act {} and layer_norm_eps {}, this run takes {} "
               "and {}\n",
               options.init_checkpoint, models::activation_name(start.hidden_act),
               start.layer_norm_eps, models::activation_name(model.hidden_act),
               model.layer_norm_eps);
  }
}

void run_pretrain(Command& command) {
  command.resolve();
  if (command.options.compile_only) {
    print_plan(command.options, false);
    return;
  }
  compare_with_start(command.options);
  train::TrainingOptions run = pretraining_options(command.options);
  run.extra_files = option_files(command.table);
  run_training(std::move(run), command.options);
}

}  // namespace

void add_pretrain(Subcommand parent) {
  Subcommand app = parent.add_subcommand("pretrain", "Pre-train BERT on records");
  const auto command = std::make_shared<Command>();
  command->table.add_flags(app.app());
  app.set_action([command] { run_pretrain(*command); });
}

void add_plan(Subcommand parent) {
  Subcommand app = parent.add_subcommand(
      "plan", "Say what memory and time a configuration takes; train nothing");
  const auto command = std::make_shared<Command>();
  command->options.compile_only = true;  // needs no data
  command->table.add_flags(app.app());
  const auto with_kernels = std::make_shared<bool>(false);
  app.add_flag("--kernels", *with_kernels, "Also list the kernels chosen, and why not others");
  app.set_action([command, with_kernels] {
    command->resolve();
    print_plan(command->options, *with_kernels);
  });
}

}  // namespace cloze::cli
