// Counts under the names of text-embeddings-inference, so that dashboards made for it show this
// server. They count what the model is asked for, under whatever path. Thread-safe.
//
//   te_request_count{method="single|batch"}, te_request_success{method}, te_request_failure{err}
//   te_embed_count, te_embed_success, te_predict_count, te_predict_success    of inputs
//   te_request_duration, _tokenization_duration, _queue_duration, _inference_duration, and the same
//   of te_embed_ and te_predict_    histograms of seconds, bounds 1.5e-5 x 1.5^k
//   te_request_input_length, te_batch_next_size, te_batch_next_tokens    histograms of counts
//   te_queue_size    gauge
//
// Source: text-embeddings-inference 1.9.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "serve/endpoint.h"
#include "serve/metrics.h"
#include "serve/request_queue.h"

namespace cloze::serve {

// The use that a request made of the server, known when it ends.
struct RequestUse {
  Work work = Work::kPredict;
  bool is_batch = false;
  int64_t inputs = 0;
  int64_t tokens = 0;
  double seconds = 0.0;        // from its body to its reply
  double token_seconds = 0.0;  // of its own texts
  QueueTimes times;
};

class TeiMetrics {
 public:
  TeiMetrics();

  void count_good(const RequestUse& use);
  void count_failed(const RequestUse& use, Trouble trouble);
  void count_batch(BatchSize size);
  std::string prometheus(int64_t waiting_inputs) const;

 private:
  // The durations of te_request, te_embed or te_predict.
  struct Durations {
    Histogram all, tokens, queue, inference;
    void add(const RequestUse& use);
    std::string prometheus(const std::string& name) const;
  };
  struct OfWork {
    int64_t count = 0, success = 0;
    Durations durations;
  };
  OfWork& of(Work work) { return work == Work::kEmbed ? embed_ : predict_; }

  mutable std::mutex mutex_;                          // guards what follows
  std::array<int64_t, 2> count_ = {}, success_ = {};  // of single ones, of batches
  std::map<std::string, int64_t> failures_;
  Durations durations_;
  OfWork embed_, predict_;
  Histogram input_length_, batch_size_, batch_tokens_;
};

// x-compute-time and the other fields with which TEI says what a reply took.
void add_use_fields(const RequestUse& use, int64_t characters, Response& response);

}  // namespace cloze::serve
