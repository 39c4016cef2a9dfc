// Ranks that are processes, on one machine or several, by MPI.
#pragma once

#include "comm/communicator.h"

namespace cloze::comm {

// EnvironmentError when the program's part for MPI, a plug-in (platform/plug_in.h), cannot be used.
Communicator& mpi_world();

// Joins the ranks: the function that the program looks for in the plug-in.
extern "C" [[gnu::visibility("default")]] Communicator& cloze_mpi_world();

}  // namespace cloze::comm
