// The ranks that this process was started with: those of mpirun, or alone.
#pragma once

#include "comm/communicator.h"

namespace cloze::comm {

// Under mpirun (Open MPI) its ranks; EnvironmentError when this build has no MPI. The first call
// starts MPI, which ends with the process.
Communicator& world();
// Whether mpirun started this process, of more than one. Does not start MPI.
bool is_one_of_several();

}  // namespace cloze::comm
