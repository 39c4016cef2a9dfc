// The ranks that this process was started with: those of mpirun, or alone.
#pragma once

#include "comm/communicator.h"

namespace cloze::comm {

// Under mpirun (Open MPI) its ranks; EnvironmentError when this build has no MPI. The first call
// starts MPI, which ends with the process.
Communicator& world();
// Says whether mpirun started this process, of more than one. Does not start MPI.
bool is_one_of_several();

// Among the processes that mpirun started on this machine; alone without mpirun. Does not start
// MPI.
struct PlaceOnHost {
  int rank = 0, size = 1;
};
PlaceOnHost place_on_host();

}  // namespace cloze::comm
