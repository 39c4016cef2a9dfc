#include "comm/world.h"

#include <cstdlib>

#include "comm/mpi.h"

namespace cloze::comm {

bool is_one_of_several() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size != nullptr && std::atoi(size) > 1;
}

PlaceOnHost place_on_host() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const char* size = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (rank == nullptr || size == nullptr) return {};
  return {.rank = std::atoi(rank), .size = std::atoi(size)};
}

Communicator& world() { return is_one_of_several() ? mpi_world() : alone(); }

}  // namespace cloze::comm
