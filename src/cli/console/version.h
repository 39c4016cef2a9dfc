// What `cloze --version` prints: enough to say which build ran on which machine.
#pragma once

#include <string>

namespace cloze::cli {

// Lines: "cloze 0.1.0 (1a2b3c4)", compiler, oneDNN, processor.
std::string version_text();
// "0.1.0 (1a2b3c4)", for files that cloze writes.
std::string short_version();
// What results depend on besides the machine: "0.1.0 (1a2b3c4), gcc 12.2.0, oneDNN 2.6.0"
std::string build_text();

}  // namespace cloze::cli
