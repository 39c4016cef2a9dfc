// Checks that all ranks of a run agree on what decides its result. The ranks make the same updates
// from the same sums; if these values differed, their weights would drift apart unnoticed.
#pragma once

#include "cli/options/option_table.h"
#include "comm/communicator.h"
#include "formats/json.h"
#include "train/training.h"

namespace cloze::cli {

// Called on all ranks together, each with values under the names that a message says. UserError
// that names the rank, the thing and both values, where a rank's value differs from the first
// rank's.
void require_same(comm::Communicator& ranks, const formats::Json& values);

// The build, and all options but the number of threads: results do not depend on that, and machines
// may differ.
formats::Json start_of(const OptionTable& table);
// What the run reads: the content of its data, of the checkpoint that it goes on from, and of its
// start values; and the instruction set that it computes with.
formats::Json contents_of(const train::TrainingOptions& run);

}  // namespace cloze::cli
