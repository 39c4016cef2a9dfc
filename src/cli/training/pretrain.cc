#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_model.h"
#include "cli/commands.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/inference/inference_options.h"
#include "cli/plan/plan_command.h"
#include "cli/say.h"
#include "cli/training/export_options.h"
#include "cli/training/pretrain_data.h"
#include "cli/training/rank_agreement.h"
#include "cli/training/ranks.h"
#include "cli/training/resumed_options.h"
#include "cli/training/training_run.h"
#include "cli/training/training_setup.h"
#include "comm/world.h"
#include "models/bert_fields.h"
#include "platform/files/input_paths.h"
#include "platform/phase.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

// Files and folders that the run reads.
std::vector<std::filesystem::path> inputs_of(const PretrainOptions& options) {
  std::vector<std::filesystem::path> inputs = {options.tokenizer.vocabulary_file};
  for (const std::string& list :
       {options.train_file, options.input_file, options.validation.files}) {
    if (list.empty()) continue;
    std::ranges::move(platform::expand_paths_with_folders(list), std::back_inserter(inputs));
  }
  return inputs;
}

void settle(PretrainOptions& options, OptionTable& table, comm::Communicator& ranks) {
  take_options_of_run(table, options);
  settle_rivals(options, table);
  take_rank(ranks, options, table);
  std::filesystem::path& start = options.training.init_checkpoint;
  if (!start.empty() && !options.compile_only) start = model_path(start);
  validate(options);
  // The first rank alone writes exports.
  if (!options.compile_only && ranks.rank() == 0) require_other_inputs(options, inputs_of(options));
  limit_instruction_set(options.instruction_set);
  const std::vector<std::string> data_notes = check_data_options(options, table);
  for (const std::string& note : data_notes) say("note: {}\n", note);
  print_notes(options, table);
}

// The tensors that a BERT and a GroupBERT share have the same names and shapes. `said_by` is the
// configuration of the start.
void check_variant(const models::BertConfig& model, const models::BertConfig& start,
                   const std::filesystem::path& said_by) {
  for (const models::BertField& field : models::bert_fields()) {
    if (field.kind != models::FieldKind::kVariant) continue;
    const std::string here = models::field_text(model, field);
    const std::string there = models::field_text(start, field);
    if (here == there) continue;
    throw_user_error(
        "{} is {}, but {} says {}; set it to {}, correct that file, or take another checkpoint",
        field.name, here, said_by.string(), there, there);
  }
}

// Shapes of tensors say neither how many heads there are nor how numbers are computed.
void compare_with_start(const PretrainOptions& options) {
  const std::filesystem::path& path = options.training.init_checkpoint;
  const std::filesystem::path folder = checkpoints::folder_of(path);
  if (path.empty() || !checkpoints::has_configuration(folder)) return;
  const std::filesystem::path said_by = checkpoints::configuration_of(folder);
  const models::BertConfig start = checkpoints::read_hugging_face_config(said_by);
  const models::BertConfig& model = options.model();
  check_variant(model, start, said_by);
  if (model.num_attention_heads != start.num_attention_heads) {
    throw_user_error("num_attention_heads is {}, but {} has {}; set it to {}",
                     model.num_attention_heads, path.string(), start.num_attention_heads,
                     start.num_attention_heads);
  }
  if (model.hidden_act != start.hidden_act || model.layer_norm_eps != start.layer_norm_eps) {
    say("note: {} was computed with hidden_act {} and layer_norm_eps {}, but this run uses {} and "
        "{}\n",
        path.string(), models::activation_name(start.hidden_act), start.layer_norm_eps,
        models::activation_name(model.hidden_act), model.layer_norm_eps);
  }
}

void run_pretrain(PretrainOptions& options, OptionTable& table) {
  // Before ranks wait for each other and files are searched. A plan has nothing to lose.
  if (!options.compile_only) platform::install_stop_signals();
  comm::Communicator& ranks = comm::world();
  together(ranks, [&] { require_same(ranks, start_of(table)); });
  together(ranks, [&] { settle(options, table, ranks); });
  if (options.compile_only) {
    if (ranks.rank() == 0) print_plan(options, {});
    return;
  }
  std::unique_ptr<comm::Heartbeat> heartbeat;
  together(ranks, [&] { heartbeat = start_heartbeat(ranks, options.rank_watch); });
  platform::enter_phase("opening data");
  train::TrainingOptions run;
  nlohmann::json contents;
  const auto open = [&] {
    compare_with_start(options);
    run = pretraining_options(options, table);
    if (ranks.size() > 1) contents = contents_of(run);
  };
  // One rank makes a token store of the text in each folder, and the others find it there.
  options.input_file.empty() ? together(ranks, open) : one_after_the_first(ranks, open);
  together(ranks, [&] { require_same(ranks, contents); });
  run.extra_files = option_files(table);
  together(ranks, [&] { take_own_folder(ranks, run); });
  platform::enter_phase("compiling");
  run_training(std::move(run), options);
}

struct PlanOptions : PretrainOptions {
  PlanRequest request;
  PlanOptions() { compile_only = true; }  // needs no data
};

void add_plan_options(OptionTable& table, PlanOptions& options) {
  add_plan_rows(table, options.request);
  add_scale_rows(table, options.request.scale);
  add_pretrain_options(table, options);
}

void run_plan(PlanOptions& options, OptionTable& table) {
  settle(options, table, comm::alone());
  print_plan(options, options.request);
}

}  // namespace

void add_pretrain(Subcommand program) {
  program.add_command("pretrain", "Pre-train BERT or GroupBERT on text or records",
                      add_pretrain_options, run_pretrain);
}

void add_plan(Subcommand program) {
  program.add_command("plan", "Say how much memory and time a configuration takes; train nothing",
                      add_plan_options, run_plan);
}

void add_pretrain_configuration(ConfigurationCommands& commands) {
  commands.add("pretrain", add_pretrain_options);
}

}  // namespace cloze::cli
