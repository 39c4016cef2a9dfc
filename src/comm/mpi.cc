#include "comm/mpi.h"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"

namespace cloze::comm {
namespace {

// Of each rank at a time: small enough to stay in the cache while it is summed.
constexpr int64_t kSliceFloats = 1 << 15;

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw_environment_error("{}: {}", what, std::string_view(text, static_cast<size_t>(length)));
}

class MpiWorld final : public Communicator {
 public:
  MpiWorld() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    std::atexit([] { MPI_Finalize(); });
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // Each rank gets everyone's numbers of one slice, adds them in the order of the ranks, and gives
  // the sum to all.
  void all_reduce(std::span<float> values) override {
    const int64_t slices = kSliceFloats * size_;
    for (int64_t begin = 0; begin < std::ssize(values); begin += slices) {
      const int64_t count = std::min(slices, std::ssize(values) - begin);
      reduce_block(values.subspan(static_cast<size_t>(begin), static_cast<size_t>(count)));
    }
  }

  std::vector<std::string> all_gather(const std::string& text) override {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<size_t>(size_)), offsets(lengths.size());
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD), "gather");
    int total = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      offsets[i] = total;
      total += lengths[i];
    }
    std::string all(static_cast<size_t>(total), '\0');
    check(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                         MPI_CHAR, MPI_COMM_WORLD),
          "gather");
    std::vector<std::string> texts;
    for (size_t i = 0; i < lengths.size(); ++i) {
      texts.push_back(all.substr(static_cast<size_t>(offsets[i]), static_cast<size_t>(lengths[i])));
    }
    return texts;
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  void reduce_block(std::span<float> block) {
    std::vector<int> counts(static_cast<size_t>(size_)), offsets(counts.size());
    for (int rank = 0; rank < size_; ++rank) {
      const Share share = share_of(std::ssize(block), rank, size_);
      counts[static_cast<size_t>(rank)] = static_cast<int>(share.end - share.begin);
      offsets[static_cast<size_t>(rank)] = static_cast<int>(share.begin);
    }
    const int own = counts[static_cast<size_t>(rank_)];
    const std::vector<int> own_counts(counts.size(), own);
    std::vector<int> own_offsets(counts.size());
    for (int rank = 0; rank < size_; ++rank) own_offsets[static_cast<size_t>(rank)] = rank * own;
    received_.resize(static_cast<size_t>(own) * counts.size());
    check(MPI_Alltoallv(block.data(), counts.data(), offsets.data(), MPI_FLOAT, received_.data(),
                        own_counts.data(), own_offsets.data(), MPI_FLOAT, MPI_COMM_WORLD),
          "all-to-all");
    sums_.assign(received_.begin(), received_.begin() + own);
    for (int rank = 1; rank < size_; ++rank) {
      const float* theirs = received_.data() + static_cast<int64_t>(rank) * own;
      for (int i = 0; i < own; ++i) sums_[static_cast<size_t>(i)] += theirs[i];
    }
    check(MPI_Allgatherv(sums_.data(), own, MPI_FLOAT, block.data(), counts.data(), offsets.data(),
                         MPI_FLOAT, MPI_COMM_WORLD),
          "all-gather");
  }

  int rank_ = 0;
  int size_ = 1;
  std::vector<float> received_, sums_;
};

}  // namespace

Communicator& mpi_world() {
  static MpiWorld world;
  return world;
}

}  // namespace cloze::comm
