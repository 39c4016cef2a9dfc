#include "cli/launch/ranks.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/launch/mpirun_command.h"
#include "comm/world.h"
#include "platform/available_threads.h"
#include "platform/files/folder.h"
#include "platform/signals.h"
#include "platform/standard_streams.h"

namespace cloze::cli {
namespace {

constexpr std::string_view kSharedCommand = "pretrain";

std::FILE* original_error = stderr;
constexpr std::chrono::seconds kTimeForTheFirst{3};

// Null where this process could not join the others, as without MPI: then they have failed alike.
comm::Communicator* joined_ranks() {
  try {
    return &comm::world();
  } catch (const EnvironmentError&) {
    return nullptr;
  }
}

// What a rank reports of its part: nothing, or its exit code and what went wrong.
std::string outcome_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const EarlyExit& early) {
    return fmt::format("{} ", static_cast<int>(early.code));
  } catch (const std::exception& error) {
    return fmt::format("{} {}", static_cast<int>(exit_code_of(error)), message_of(error));
  }
  return "";
}

}  // namespace

void require_shared_command(const std::vector<std::string>& words) {
  if (!comm::is_one_of_several() || words.empty() || words.front() == kSharedCommand) return;
  together(comm::world(), [&] { require_may_be_shared(words.front()); });
}

void require_may_be_shared(const std::string& command) {
  if (command == kSharedCommand) return;
  throw_user_error("{} runs in one process; start it without mpirun, which is for cloze {}",
                   command, kSharedCommand);
}

void together(comm::Communicator& ranks, const std::function<void()>& body) {
  if (ranks.size() == 1) return body();
  const std::vector<std::string> outcomes = ranks.all_gather(outcome_of(body));
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].empty()) continue;
    const size_t space = outcomes[rank].find(' ');
    const std::string problem = outcomes[rank].substr(space + 1);
    if (ranks.rank() == 0 && !problem.empty()) {
      say("cloze: {}{}\n", rank == 0 ? "" : fmt::format("rank {}: ", rank), problem);
    }
    throw EarlyExit{static_cast<ExitCode>(std::stoi(outcomes[rank].substr(0, space)))};
  }
}

void one_after_the_first(comm::Communicator& ranks, const std::function<void()>& body) {
  const int turn = ranks.rank() == 0 ? 0 : comm::place_on_host().rank == 0 ? 1 : 2;
  for (int i = 0; i <= 2; ++i) {
    together(ranks, [&] {
      if (turn == i) body();
    });
  }
}

void take_own_processors() {
  if (std::getenv(kSharesProcessors) == nullptr) return;
  const comm::PlaceOnHost place = comm::place_on_host();
  if (place.size > 1) platform::take_processor_share(place.rank, place.size);
}

void silence_other_ranks() {
  if (!comm::is_one_of_several()) return;
  platform::install_stop_signals();
  if (comm::world().rank() == 0) return;
  original_error = platform::redirect_output("/dev/null");
}

void take_own_folder(comm::Communicator& ranks, std::filesystem::path& save_path) {
  if (ranks.rank() == 0) return;
  save_path /= fmt::format("rank-{}", ranks.rank());
  platform::make_writable_directory(save_path);
  platform::redirect_output(save_path / "log.txt");
}

std::unique_ptr<comm::Heartbeat> start_heartbeat(comm::Communicator& ranks,
                                                 const comm::WatchBounds& bounds) {
  if (ranks.size() == 1 || bounds.silence == 0.0) return nullptr;
  comm::HeartbeatOptions options{.bounds = bounds, .launcher = std::getenv(comm::kLauncher)};
  options.say = [](const std::string& line) {
    std::fputs(fmt::format("cloze: {}\n", line).c_str(), original_error);
    std::fflush(original_error);
  };
  // At once: mpirun ends the others, also those that wait for messages.
  options.end = [] { std::_Exit(static_cast<int>(ExitCode::kEnvironment)); };
  return std::make_unique<comm::Heartbeat>(ranks, std::move(options));
}

void end_all_ranks(const std::string& message, ExitCode code) {
  if (!comm::is_one_of_several() || code == ExitCode::kDiverged) return;
  comm::Communicator* const ranks = joined_ranks();
  if (ranks == nullptr) return;
  if (ranks->rank() > 0) {
    // The first rank reports an error that all ranks share, and ends the others.
    std::this_thread::sleep_for(kTimeForTheFirst);
    std::fputs(fmt::format("cloze: rank {}: {}\n", ranks->rank(), message).c_str(), original_error);
    std::fflush(original_error);
  }
  ranks->abort(static_cast<int>(code));
}

}  // namespace cloze::cli
