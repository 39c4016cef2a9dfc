#include "cli/console/version.h"

#include <fmt/format.h>

#include "cli/console/git_hash.h"
#include "engine/instruction_set.h"
#include "platform/processor.h"

namespace cloze::cli {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

}  // namespace

std::string short_version() { return CLOZE_VERSION " (" CLOZE_GIT_HASH ")"; }

std::string build_text() {
  return fmt::format("{}, {}, oneDNN {}", short_version(), kCompiler, CLOZE_ONEDNN_VERSION);
}

std::string version_text() {
  return fmt::format("cloze {}\ncompiler {}\noneDNN {}\nprocessor {}\ninstruction sets {}",
                     short_version(), kCompiler, CLOZE_ONEDNN_VERSION,
                     fmt::join(platform::processor_features(), " "),
                     fmt::join(engine::instruction_sets(), " "));
}

}  // namespace cloze::cli
