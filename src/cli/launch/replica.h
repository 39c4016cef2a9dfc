// What a command says of the processes that run it, before they are started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cloze::cli {

// The processes of one replica of `pretrain ...`: as its pipeline_stages and device_mapping say, on
// the command line, in its --config or in the run that it resumes. UserError for words that
// pretrain refuses.
int processes_of_replica(const std::vector<std::string>& command);
// Sequences in a step, when so many processes run it. Errors as above.
int64_t sequences_of_launched_step(const std::vector<std::string>& command, int processes);

}  // namespace cloze::cli
