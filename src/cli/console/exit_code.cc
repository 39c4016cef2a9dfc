#include "cli/console/exit_code.h"

#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.h"
#include "cli/console/out_of_memory.h"
#include "platform/descriptor.h"
#include "platform/signals.h"
#include "train/divergence.h"

namespace cloze::cli {

ExitCode exit_code_of(const std::exception& error) {
  if (const auto* path = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return platform::is_about_a_path(path->code().value()) ? ExitCode::kUsage
                                                           : ExitCode::kEnvironment;
  }
  if (dynamic_cast<const DataError*>(&error) != nullptr) return ExitCode::kData;
  if (dynamic_cast<const UserError*>(&error) != nullptr) return ExitCode::kUsage;
  if (dynamic_cast<const platform::Interruption*>(&error) != nullptr)
    return ExitCode::kSavedOnSignal;
  if (dynamic_cast<const EnvironmentError*>(&error) != nullptr) return ExitCode::kEnvironment;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ExitCode::kEnvironment;
  if (dynamic_cast<const std::system_error*>(&error) != nullptr) return ExitCode::kEnvironment;
  if (dynamic_cast<const train::DivergenceError*>(&error) != nullptr) return ExitCode::kDiverged;
  return ExitCode::kFailure;
}

std::string message_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return out_of_memory_message();
  if (const auto* path = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return fmt::format("cannot open {}: {}; check the path and who may use it",
                       path->path1().string(), path->code().message());
  }
  return error.what();
}

}  // namespace cloze::cli
