// Limits of a server. A request over one gets an error that names it, except for connections: those
// beyond connections_per_address, and those that come when 64 more than `connections` are open, are
// closed without a word.
#pragma once

#include <chrono>
#include <cstdint>

namespace cloze::serve {

struct QueueLimits {
  int64_t waiting_inputs = 4096;  // in the queue
  int64_t batch_inputs = 64;      // run together; a longer request is run in several batches
  int64_t batch_bytes = 64 << 10;
  int64_t batch_candidates = 20'000;               // of its answers; what asks for more is refused
  std::chrono::milliseconds batch_wait{0};         // for more inputs to join the first of a batch
  std::chrono::milliseconds waiting_time{30'000};  // of a request, until its batch is run
};

struct Limits {
  int64_t header_bytes = 8 << 10;  // request line and header fields
  int64_t body_bytes = 4 << 20;
  int64_t text_bytes = 32 << 10;      // of each text
  int64_t inputs_per_request = 2048;  // OpenAI's
  int64_t top_k = 100;
  int64_t connections = 512;
  int64_t connections_per_address = 256;
  std::chrono::milliseconds transfer_time{10'000};  // for a request to arrive, for a reply to leave
  QueueLimits queue;
};

}  // namespace cloze::serve
