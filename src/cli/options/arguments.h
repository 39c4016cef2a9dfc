// The words of the command line, looked over before the parser takes them: it would let some
// mistakes pass, and would not name others.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace cloze::cli {

// The words after the program's name, with one spelling of options: "--micro_batch_size=8" →
// "--micro-batch-size=8". "--save-path=" → "--save-path", "": the parser would take the next word.
std::vector<std::string> command_line_words(int argc, const char* const* argv);

// UserError for a word that should name a command and does not, and for an option that is unknown
// or given twice; it names the nearest known one, or both values.
void check_words(CLI::App& program, const std::vector<std::string>& words);

// Of a command that takes words besides options, a switch with one of them after it: "--list",
// "NAME" → "--list=true", "NAME"; the parser would take the word for the switch's value.
std::vector<std::string> with_bare_switches(CLI::App& program, std::vector<std::string> words);

// "; did you mean NEAREST?", or nothing where no known name is near.
std::string nearest_hint(const std::string& name, const std::vector<std::string>& known);

}  // namespace cloze::cli
