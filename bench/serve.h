// A bench that takes turns with its peers (bench/turns.py): prints "ready" when warm, and answers
// each line "run" on standard input with what run() returns, as one JSON line.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "formats/json.h"

namespace cloze::bench {

template <class Bench>
void serve(Bench& bench) {
  fmt::print("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (line != "run") continue;
    fmt::print("{}\n", bench.run().dump());
    std::fflush(stdout);
  }
}

}  // namespace cloze::bench
