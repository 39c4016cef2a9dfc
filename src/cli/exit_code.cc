#include "cli/exit_code.h"

#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.h"
#include "platform/signals.h"
#include "train/divergence.h"

namespace cloze::cli {

namespace {

bool is_about_a_path(const std::error_code& code) {
  for (const auto cause :
       {std::errc::permission_denied, std::errc::operation_not_permitted,
        std::errc::no_such_file_or_directory, std::errc::not_a_directory, std::errc::is_a_directory,
        std::errc::filename_too_long, std::errc::too_many_symbolic_link_levels}) {
    if (code == cause) return true;
  }
  return false;
}

}  // namespace

ExitCode exit_code_of(const std::exception& error) {
  if (const auto* path = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return is_about_a_path(path->code()) ? ExitCode::kUsage : ExitCode::kEnvironment;
  }
  if (dynamic_cast<const DataError*>(&error) != nullptr) return ExitCode::kData;
  if (dynamic_cast<const UserError*>(&error) != nullptr) return ExitCode::kUsage;
  if (dynamic_cast<const platform::Interruption*>(&error) != nullptr)
    return ExitCode::kSavedOnSignal;
  if (dynamic_cast<const EnvironmentError*>(&error) != nullptr) return ExitCode::kEnvironment;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ExitCode::kEnvironment;
  if (dynamic_cast<const train::DivergenceError*>(&error) != nullptr) return ExitCode::kDiverged;
  return ExitCode::kFailure;
}

}  // namespace cloze::cli
