// What a shell and man(1) want to know of the program, made from the commands and options that it
// parses, so that neither can fall behind.
//
//   cloze --completion > /usr/share/bash-completion/completions/cloze
//   cloze --manual | man -l -
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace cloze::cli {

// For bash: commands, then the options of the command that the words before name; files elsewhere.
std::string bash_completion(const CLI::App& program);

// A page for man(1), in the macros of man(7): every command with its example and options, and the
// exit codes.
std::string manual_page(const CLI::App& program, const std::string& version);

}  // namespace cloze::cli
