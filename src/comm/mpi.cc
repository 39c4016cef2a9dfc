#include "comm/mpi.h"

#include "base/error.h"
#include "platform/plug_in.h"

namespace cloze::comm {
namespace {

constexpr platform::PlugIn kPlugIn{.file = "cloze_mpi.so",
                                   .serves = "MPI",
                                   .package = "cloze-mpi",
                                   .needs = "libopenmpi-dev",
                                   .symbol = "cloze_mpi_world"};

}  // namespace

Communicator& mpi_world() {
  const Result<void*> found = platform::find_in_plug_in(kPlugIn);
  if (!found) throw_environment_error("mpirun started it, but {}", found.error().message);
  return reinterpret_cast<decltype(&cloze_mpi_world)>(*found)();
}

}  // namespace cloze::comm
