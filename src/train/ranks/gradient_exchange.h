// Sums gradients over ranks beside the backward pass that makes them, and shares divided updates
// beside the update.
//
// Gradients travel in buckets, in the order in which the last micro-batch completes them. A
// complete bucket is copied out, summed by a separate thread while the step computes on, and copied
// back. Parameters travel in the same buckets, in the order in which they are updated. Sums are in
// the order of the ranks (comm/communicator.h), so results do not depend on timing.
//
// Errors: what the communicator throws. One thread calls it, and no other uses the communicator
// meanwhile.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "engine/session.h"
#include "train/metrics/communication_time.h"

namespace cloze::train {

// Numbers in a bucket: long enough for a network, short enough to leave before the backward pass
// ends.
inline constexpr int64_t kBucketFloats = 1 << 20;
// Buckets on their way at a time: one is summed while the next is copied out.
inline constexpr int64_t kMostParcels = 4;
// The memory that they take, for so many bytes of gradients.
constexpr int64_t parcel_bytes(int64_t gradient_bytes) {
  return std::min(gradient_bytes, kMostParcels * kBucketFloats * int64_t{sizeof(float)});
}
// The memory that one of several ranks needs for messages: copies of messages under way, for stages
// and for replicas; as much again inside MPI where stages send each other activations (measured);
// and the parcels of replicas.
constexpr int64_t message_bytes(int64_t stages, int64_t replicas, int64_t gradient_bytes) {
  const int64_t outboxes = (stages > 1 ? 2 : 0) + (replicas > 1 ? 1 : 0);
  return outboxes * comm::kMostBytesUnderWay + (replicas > 1 ? parcel_bytes(gradient_bytes) : 0);
}

class GradientExchange {
 public:
  // owners: by the graph's gradients, the rank that updates the parameter, -1 for those that others
  // sum. Only the owners get the sums, or all ranks do. Session and ranks outlive the exchange.
  GradientExchange(engine::Session& session, comm::Communicator& ranks, std::span<const int> owners,
                   bool for_owners_only, DType transport);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  // Runs the last micro-batch of the step, and sums. `micro_batch`: the session, or one that shares
  // its gradients and has the same launches for fewer slots.
  void run_and_sum(engine::Session& micro_batch);
  // Sums what is there: for a rank whose micro-batches are done, or that had none.
  void sum();
  // Runs the update from this launch on; each rank gets the parameters that others update.
  void update_and_share(size_t done);

  // Since the last call.
  CommunicationTime take_time();

 private:
  enum class Content { kGradients, kParameters };
  // Numbers of a variable.
  struct Piece {
    graph::Value gradient;
    int owner = 0;
    int64_t offset = 0, count = 0;
  };
  struct Bucket {
    size_t complete_after = 0;  // launches of the micro-step
    size_t updated_after = 0;   // launches of the update, as far as this rank updates it
    std::vector<Piece> pieces;  // by owner, if they have any
    std::vector<comm::Share> shares;
    int64_t count = 0;
  };
  // A bucket on its way.
  struct Parcel {
    const Bucket* bucket = nullptr;
    Content content = Content::kGradients;
    std::vector<float> values;
    bool has_travelled = false;
  };

  void make_buckets(std::span<const int> owners);
  std::vector<float> take_spare(int64_t count);
  void close(Bucket& bucket);
  void order_updates();
  graph::Value variable_of(const Piece& piece, Content content) const;
  void read(Parcel& parcel);
  void write(const Parcel& parcel);
  void begin(const Bucket& bucket, Content content);
  void end_first();
  void end_all();
  void travel(Parcel& parcel);
  void work();

  engine::Session& session_;
  comm::Communicator& ranks_;
  DType transport_;
  bool for_owners_only_;
  std::vector<Bucket> buckets_;
  std::vector<const Bucket*> updates_;     // the buckets, in the order in which they are updated
  std::vector<std::vector<float>> spare_;  // memory for parcels
  CommunicationTime time_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Parcel> parcels_;  // the oldest first; the thread takes the first not yet sent
  std::exception_ptr error_;
  bool is_closing_ = false;
  std::thread worker_;
};

}  // namespace cloze::train
