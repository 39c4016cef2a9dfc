// How many processes have one whole model between them, in a run that is to be started.
#pragma once

#include <string>
#include <vector>

namespace cloze::cli {

// Of `pretrain ...`: as its pipeline_stages and device_mapping say, on the command line, in its
// --config or in the run that it goes on with. UserError for words that pretrain refuses.
int processes_of_replica(const std::vector<std::string>& command);

}  // namespace cloze::cli
