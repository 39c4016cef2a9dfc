// Ranks that are processes, on one machine or several, by MPI.
#pragma once

#include "comm/communicator.h"

namespace cloze::comm {

// EnvironmentError when the program's part for MPI, a plug-in (platform/plug_in.h), cannot be used.
Communicator& mpi_world();

// What the plug-in is opened for.
extern "C" [[gnu::visibility("default")]] Communicator& cloze_mpi_world();

}  // namespace cloze::comm
