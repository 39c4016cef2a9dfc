// The memory that a command will take, said before it takes it, and at its end what it took. Both
// count the pages of the program and of its libraries. Where a card computes, its memory is counted
// apart from the host's.
//
// Files of records and token stores are mapped: what was read of them counts as memory of this
// process until the system needs it for something else. It is not forecast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/inference_memory.h"

namespace cloze::forecast {

class MemoryForecast {
 public:
  // Measures what there is now: the program and what it has loaded.
  // known_bytes: the part of that which is added under a name of its own.
  explicit MemoryForecast(int64_t known_bytes = 0);

  // A card of so much memory computes, if any does: add_to_device() counts there.
  void use_card(std::optional<int64_t> card_bytes) { card_bytes_ = card_bytes; }

  // `what` follows "for": "a step". Of the host.
  void add(std::string_view what, int64_t bytes);
  // Bytes of the card, or of the host where none computes; and of the host beside it, under the same name.
  void add_to_device(std::string_view what, int64_t bytes, int64_t beside_on_host = 0);
  // Weights, a micro-batch, and what the first one takes once. What is held while weights are made
  // is freed before that.
  void add_inference(const inference::InferenceMemory& memory);

  // The host's; no less than the peak before this object was made.
  int64_t peak_bytes() const;
  // The card's; 0 where none computes.
  int64_t card_bytes() const;
  // Where the model lies.
  int64_t device_bytes() const { return card_bytes_ ? card_bytes() : peak_bytes(); }
  // "memory: about 788.5 MiB: 255.8 for the program and its data, ..., 149.6 for a copy to save".
  // About: pages of files that are read, and what the allocator keeps, come and go. A peak may
  // be up to 4 % above (tests/memory_program_test.py). With a card it is a table of two columns.
  std::string text() const;
  // "memory: 785.1 MiB at the peak, 788.5 MiB planned". When it was more, and 1 MiB or more of
  // files was read since: ", 24.0 MiB of files that the system takes back when it needs them"
  std::string outcome() const;

 private:
  struct Part {
    std::string_view what;
    int64_t bytes = 0, on_card = 0;
  };
  std::string table() const;

  std::optional<int64_t> card_bytes_;
  int64_t earlier_peak_;
  int64_t earlier_files_;
  std::vector<Part> parts_;
};

}  // namespace cloze::forecast
