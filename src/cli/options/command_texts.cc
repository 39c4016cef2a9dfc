#include "cli/options/command_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace cloze::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

// Options without a group are those of other systems: accepted, but not shown.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return !option->get_lnames().empty() && !option->get_group().empty();
  });
}

std::string flag_of(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

// Calls visit(command, "data records") for the program ("") and every command below it.
void visit_commands(const CLI::App& command, const std::string& path,
                    const std::function<void(const CLI::App&, const std::string&)>& visit) {
  visit(command, path);
  for (const CLI::App* one : commands_of(command)) {
    visit_commands(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), visit);
  }
}

std::string completed_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* one : commands_of(command)) words.push_back(one->get_name());
  for (const CLI::Option* option : options_of(command)) words.push_back(flag_of(*option));
  return fmt::format("{}", fmt::join(words, " "));
}

// As man(7) wants it: backslashes and hyphens escaped, no control character at the start of a line.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string described(const CLI::Option& option) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(flag_of(option)),
                     escaped(option.get_description()));
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
0 success; 1 an error of cloze's own; 2 a bad option, configuration or path; 3 bad bytes in a file;
4 no memory or space; 5 training diverged; 6 training ended below its target; 75 stopped by a
signal, state saved.
)";

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::string paths, words;
  visit_commands(program, "", [&](const CLI::App& command, const std::string& path) {
    if (!path.empty()) paths += fmt::format("{}\"{}\"", paths.empty() ? "" : " | ", path);
    words += fmt::format("    \"{}\") words=\"{}\" ;;\n", path, completed_words(command));
  });
  return fmt::format(R"(# Completion of {0} for bash, printed by {0} --completion.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path= words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{path:+$path }}$word" in
      {1}) path="${{path:+$path }}$word" ;;
    esac
  done
  case $path in
{2}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _{0} {0}
)",
                     program.get_name(), paths, words);
}

std::string manual_page(const CLI::App& program, const std::string& version) {
  std::string page = fmt::format(
      ".TH CLOZE 1 \"\" \"{0} {1}\"\n.SH NAME\n{0} \\- {2}\n.SH SYNOPSIS\n.B {0}\n.I command\n"
      "[\\-\\-option value ...]\n.SH COMMANDS\n",
      program.get_name(), escaped(version), escaped(program.get_description()));
  visit_commands(program, "", [&](const CLI::App& command, const std::string& path) {
    if (path.empty()) return;
    page += fmt::format(".SS {} {}\n{}\n", program.get_name(), path,
                        escaped(command.get_description()));
    const std::string example = command.get_footer();
    if (!example.empty()) page += fmt::format(".PP\n.RS\n{}\n.RE\n", escaped(example));
    for (const CLI::Option* option : options_of(command)) page += described(*option);
  });
  return page + kExitStatus;
}

}  // namespace cloze::cli
