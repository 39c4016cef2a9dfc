#include "comm/communicator.h"

#include <cstdlib>

namespace cloze::comm {
namespace {

class Alone final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(std::span<float> /*values*/) override {}
  std::vector<std::string> all_gather(const std::string& text) override { return {text}; }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }
};

}  // namespace

Communicator& alone() {
  static Alone communicator;
  return communicator;
}

Share share_of(int64_t count, int rank, int size) {
  return {count * rank / size, count * (rank + 1) / size};
}

}  // namespace cloze::comm
