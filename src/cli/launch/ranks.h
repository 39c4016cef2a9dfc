// A command that several processes run together, started by mpirun.
//
// The first rank prints and saves. Every other rank writes its messages and its metrics into a
// folder of its own, save_path/rank-R.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/console/exit_code.h"
#include "comm/communicator.h"
#include "comm/heartbeat.h"

namespace cloze::cli {

// UserError for a command that runs in one process.
void require_may_be_shared(const std::string& command);
// Ends all ranks when mpirun started another command than those that several processes share.
void require_shared_command(const std::vector<std::string>& words);

// Runs the body on every rank. When one fails all end with its exit code, and the first rank says
// what went wrong, and where.
void together(comm::Communicator& ranks, const std::function<void()>& body);
// On the first rank, then on the first rank of each other host, then on the rest: for what one rank
// makes in a folder and the others open.
void one_after_the_first(comm::Communicator& ranks, const std::function<void()>& body);

// Under `cloze launch`: binds this process to its part of its host's processors.
void take_own_processors();
// Ranks other than the first say nothing from now on, or only in their folder. A request to stop
// that comes while ranks wait for each other is heard once the run is set up.
void silence_other_ranks();
void take_own_folder(comm::Communicator& ranks, std::filesystem::path& save_path);

// Watches the ranks as long as it exists: one that dies, falls silent or makes no progress ends
// them all with exit code 4, and is named. Null where a rank is alone, or silence has no bound.
std::unique_ptr<comm::Heartbeat> start_heartbeat(comm::Communicator& ranks,
                                                 const comm::WatchBounds& bounds);

// After an error: ends the ranks that wait for this one. Does nothing where it is alone, or where
// all of them have met the same error: a run that diverges does so on every rank.
void end_all_ranks(const std::string& message, ExitCode code);

}  // namespace cloze::cli
