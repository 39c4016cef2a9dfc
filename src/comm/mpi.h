// Ranks that are processes, on one machine or several, by MPI.
#pragma once

#include "comm/communicator.h"

namespace cloze::comm {

// EnvironmentError when this build has no MPI.
Communicator& mpi_world();

}  // namespace cloze::comm
