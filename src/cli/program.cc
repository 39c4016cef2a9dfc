#include "cli/program.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/console/exit_code.h"
#include "cli/console/say.h"
#include "cli/console/spelling.h"
#include "cli/console/version.h"
#include "cli/launch/mpirun_command.h"
#include "cli/launch/ranks.h"
#include "cli/options/arguments.h"
#include "cli/options/command_texts.h"
#include "cli/options/commands.h"
#include "cli/options/help_formatter.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

void add_configuration(Subcommand config) {
  add_config_import(config);
  add_config_keys(config);
  ConfigurationCommands commands(config);
  add_finetune_configuration(commands);
  add_glue_configuration(commands);
  add_pretrain_configuration(commands);
  add_squad_configuration(commands);
}

void add_commands(Subcommand program, std::vector<std::string> launched) {
  add_launch(program, std::move(launched));
  add_compile(program);
  add_configuration(
      program.add_group("config", {"Show configurations, and import those of other systems",
                                   "cloze config print pretrain --config bert_tiny"}));
  const Subcommand data = program.add_group(
      "data", {"Make training data",
               "cloze data vocabulary --input-file 'text/*.txt' --output-file vocab.txt"});
  for (const auto add :
       {add_data_convert, add_data_packing, add_data_records, add_data_squad, add_data_stats,
        add_data_tokens, add_data_verify, add_data_vocabulary, add_data_wikipedia}) {
    add(data);
  }
  for (const auto add :
       {add_answer,  add_benchmark, add_choose,   add_classify, add_convert, add_devices,
        add_embed,   add_export,    add_fill,     add_finetune, add_glue,    add_inspect,
        add_latency, add_plan,      add_pretrain, add_score,    add_serve,   add_similarity,
        add_squad,   add_tag,       add_tokenize}) {
    add(program);
  }
}

constexpr const char* kCompletion = "--completion";
constexpr const char* kManual = "--manual";
constexpr const char* kHelpAll = "--help-all";

// Options of the program itself: each prints a text and ends.
void add_texts(CLI::App& program) {
  program.set_version_flag("--version", version_text);
  const auto add = [&](const char* flag, const char* help, auto text) {
    program.add_flag_callback(
        flag, [text] { throw CLI::CallForVersion(text(), 0); }, help);
  };
  add(kCompletion, "Print the completion script for bash",
      [&program] { return bash_completion(program); });
  add(kManual, "Print the manual page, for man -l -",
      [&program] { return manual_page(program, short_version()); });
}

// These texts tell of every command's options.
bool needs_all_options(const std::vector<std::string>& words) {
  return !words.empty() &&
         (words.front() == kCompletion || words.front() == kManual || words.front() == kHelpAll);
}

// "cloze data records", of the command that was named.
std::string command_of(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + command_of(*chosen.front());
}

std::string what_is_wrong(const CLI::ParseError& error) {
  const std::string text = error.what();
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  return lacks_value ? text.substr(0, text.find(':')) + " has no value" : text;
}

// Runs what the arguments ask for.
void parse(CLI::App& program, std::vector<std::string> words) {
  check_words(program, words);
  words = with_bare_switches(program, std::move(words));
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    program.parse(std::move(words));
  } catch (const CLI::Success& text) {  // --help, --version
    program.exit(text);
  } catch (const CLI::ParseError& error) {
    throw_user_error("{}; {} --help-all lists all", what_is_wrong(error), command_of(program));
  }
}

// UserError when `launch` is asked to start something that is not a command.
void check_launched(CLI::App& program, const std::vector<std::string>& launched) {
  if (launched.empty() || launched.front().starts_with('-')) return;
  check_words(program, {launched.front()});
}

int failed(const std::string& message, ExitCode code) {
  say("cloze: {}\n", message);
  end_all_ranks(spelled(message), code);
  return static_cast<int>(code);
}

}  // namespace

void flush_standard_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw_environment_error("standard output cannot be written to; is it full or closed?");
}

namespace {

int run(int argc, const char* const* argv) {
  platform::ignore_file_size_signal();
  CLI::App program("Trains BERT and GroupBERT, from plain text to a served model", "cloze");
  program.require_subcommand(1);
  program.formatter(std::make_shared<HelpFormatter>());  // of every command
  program.set_help_all_flag(kHelpAll, "Print this help with all options and exit");
  program.footer(
      "cloze pretrain --config bert_tiny --input-file 'text/*.txt' --vocab-file vocab.txt "
      "--save-path run");
  add_texts(program);
  std::vector<std::string> words = command_line_words(argc, argv);
  const std::vector<std::string> launched = take_launched_command(words);
  add_commands({program, needs_all_options(words) ? std::nullopt : std::optional(words)}, launched);
  try {
    take_own_processors();
    silence_other_ranks();
    require_shared_command(words);
    check_launched(program, launched);
    parse(program, words);
    flush_standard_output();
  } catch (const EarlyExit& early) {
    return static_cast<int>(early.code);
  } catch (const std::exception& error) {
    return failed(message_of(error), exit_code_of(error));
  }
  return static_cast<int>(ExitCode::kSuccess);
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const int code = run(argc, argv);
  set_spelling({});  // the command is gone
  return code;
}

}  // namespace cloze::cli
