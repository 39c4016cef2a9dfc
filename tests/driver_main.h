// main() of a driver: what a script starts to see into cloze. Errors go to standard error, exit 1.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <span>

namespace cloze {

template <class Run>
int driver_main(int argc, char** argv, Run run) {
  try {
    run(std::span<char* const>(argv, static_cast<size_t>(argc)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace cloze
