#include "base/error.h"
#include "comm/mpi.h"

namespace cloze::comm {

Communicator& mpi_world() {
  throw_environment_error(
      "mpirun started this program, but it was built without MPI; install libopenmpi-dev and build "
      "it again");
}

}  // namespace cloze::comm
