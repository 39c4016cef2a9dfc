#include "train/ranks/gradient_exchange.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/seconds.h"
#include "platform/phase.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::VariableRole;
using Clock = std::chrono::steady_clock;

// For each value, the number of launches of the phase after which it is no longer written.
std::vector<size_t> completion_of(const Graph& graph, std::string_view phase) {
  std::vector<size_t> complete_after(static_cast<size_t>(graph.num_values()), 0);
  size_t launches = 0;
  for (const Node* node : graph.nodes_of(phase)) {
    ++launches;
    for (const Value value : node->written()) {
      complete_after[static_cast<size_t>(value.index)] = launches;
    }
  }
  return complete_after;
}

}  // namespace

GradientExchange::GradientExchange(engine::Session& session, comm::Communicator& ranks,
                                   std::span<const int> owners, bool for_owners_only,
                                   DType transport)
    : session_(session), ranks_(ranks), transport_(transport), for_owners_only_(for_owners_only) {
  make_buckets(owners);
  if (for_owners_only_) order_updates();
  worker_ = std::thread([this] { work(); });
}

GradientExchange::~GradientExchange() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  if (!parcels_.empty()) ranks_.break_off();
  worker_.join();
}

void GradientExchange::make_buckets(std::span<const int> owners) {
  const std::vector<size_t> complete_after = completion_of(session_.graph(), graph::kMicroStep);
  struct Gradient {
    Value value;
    int owner = 0;
    size_t complete_after = 0;
  };
  std::vector<Gradient> gradients;
  auto owner = owners.begin();
  for (const Value value : session_.graph().variables(VariableRole::kGradient)) {
    gradients.push_back({value, *owner++, complete_after[static_cast<size_t>(value.index)]});
  }
  std::erase_if(gradients, [](const Gradient& gradient) { return gradient.owner < 0; });
  std::ranges::stable_sort(gradients, {}, &Gradient::complete_after);
  Bucket bucket;
  for (const Gradient& gradient : gradients) {
    const int64_t elements = session_.graph().type(gradient.value).shape.elements();
    for (int64_t offset = 0; offset < elements;) {
      const int64_t count = std::min(elements - offset, kBucketFloats - bucket.count);
      bucket.pieces.push_back({gradient.value, gradient.owner, offset, count});
      bucket.complete_after = gradient.complete_after;
      bucket.count += count;
      offset += count;
      if (bucket.count == kBucketFloats) close(bucket);
    }
  }
  if (bucket.count > 0) close(bucket);
}

void GradientExchange::close(Bucket& bucket) {
  bucket.shares = comm::even_shares(bucket.count, ranks_.size());
  if (for_owners_only_) {
    std::ranges::stable_sort(bucket.pieces, {}, &Piece::owner);
    int64_t end = 0;
    auto piece = bucket.pieces.begin();
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      comm::Share& share = bucket.shares[static_cast<size_t>(rank)];
      share.begin = end;
      for (; piece != bucket.pieces.end() && piece->owner == rank; ++piece) end += piece->count;
      share.end = end;
    }
  }
  buckets_.push_back(std::exchange(bucket, {}));
}

// Optimisers update parameters in the order of the gradients. As ranks update different parameters,
// all use this order, and not the one in which this rank finishes its own.
void GradientExchange::order_updates() {
  const std::vector<size_t> updated_after = completion_of(session_.graph(), graph::kUpdate);
  std::vector<std::pair<int32_t, const Bucket*>> by_last_gradient;
  for (Bucket& bucket : buckets_) {
    int32_t last = 0;
    for (const Piece& piece : bucket.pieces) {
      last = std::max(last, piece.gradient.index);
      const Value parameter = variable_of(piece, Content::kParameters);
      bucket.updated_after =
          std::max(bucket.updated_after, updated_after[static_cast<size_t>(parameter.index)]);
    }
    by_last_gradient.emplace_back(last, &bucket);
  }
  std::ranges::stable_sort(by_last_gradient, {}, &std::pair<int32_t, const Bucket*>::first);
  for (const auto& [last, bucket] : by_last_gradient) updates_.push_back(bucket);
}

Value GradientExchange::variable_of(const Piece& piece, Content content) const {
  if (content == Content::kGradients) return piece.gradient;
  return session_.graph().info(piece.gradient).master;
}

void GradientExchange::read(Parcel& parcel) {
  std::span<float> values = parcel.values;
  for (const Piece& piece : parcel.bucket->pieces) {
    const auto count = static_cast<size_t>(piece.count);
    // Only the parameters that this rank updated are ready, and needed.
    if (parcel.content == Content::kGradients || piece.owner == ranks_.rank()) {
      session_.executor().read_part(variable_of(piece, parcel.content),
                                    piece.offset * int64_t{sizeof(float)},
                                    std::as_writable_bytes(values.first(count)));
    }
    values = values.subspan(count);
  }
}

void GradientExchange::write(const Parcel& parcel) {
  std::span<const float> values = parcel.values;
  for (const Piece& piece : parcel.bucket->pieces) {
    const auto count = static_cast<size_t>(piece.count);
    // Gradients that this rank updates with; parameters that others updated.
    const bool is_own = piece.owner == ranks_.rank();
    if (!for_owners_only_ || is_own == (parcel.content == Content::kGradients)) {
      session_.executor().write_part(variable_of(piece, parcel.content),
                                     piece.offset * int64_t{sizeof(float)},
                                     std::as_bytes(values.first(count)));
    }
    values = values.subspan(count);
  }
}

void GradientExchange::run_and_sum(engine::Session& micro_batch) {
  runtime::Executor& executor = micro_batch.executor();
  size_t done = 0;
  for (const Bucket& bucket : buckets_) {
    executor.run_part(graph::kMicroStep, done, bucket.complete_after);
    done = bucket.complete_after;
    begin(bucket, Content::kGradients);
  }
  executor.run_part(graph::kMicroStep, done, executor.num_launches(graph::kMicroStep));
  platform::enter_wait("summing gradients");
  end_all();
}

void GradientExchange::sum() {
  for (const Bucket& bucket : buckets_) begin(bucket, Content::kGradients);
  platform::enter_wait("summing gradients");
  end_all();
}

void GradientExchange::update_and_share(size_t done) {
  runtime::Executor& executor = session_.executor();
  for (const Bucket* bucket : updates_) {
    const size_t end = std::max(done, bucket->updated_after);
    executor.run_part(graph::kUpdate, done, end);
    done = end;
    begin(*bucket, Content::kParameters);
  }
  executor.run_part(graph::kUpdate, done, executor.num_launches(graph::kUpdate));
  platform::enter_wait("sharing parameters");
  end_all();
}

void GradientExchange::end_all() {
  while (!parcels_.empty()) end_first();
}

std::vector<float> GradientExchange::take_spare(int64_t count) {
  std::vector<float> values;
  if (!spare_.empty()) {
    values = std::move(spare_.back());
    spare_.pop_back();
  }
  values.resize(static_cast<size_t>(count));
  return values;
}

void GradientExchange::begin(const Bucket& bucket, Content content) {
  if (std::ssize(parcels_) == kMostParcels) end_first();
  Parcel parcel{.bucket = &bucket, .content = content, .values = take_spare(bucket.count)};
  read(parcel);
  {
    const std::lock_guard lock(mutex_);
    parcels_.push_back(std::move(parcel));
  }
  changed_.notify_all();
}

void GradientExchange::end_first() {
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return parcels_.front().has_travelled || error_ != nullptr; });
  if (error_ != nullptr) std::rethrow_exception(error_);
  time_.waited += seconds_since(start);
  Parcel parcel = std::move(parcels_.front());
  parcels_.pop_front();
  lock.unlock();
  write(parcel);
  spare_.push_back(std::move(parcel.values));
}

void GradientExchange::travel(Parcel& parcel) {
  if (parcel.content == Content::kParameters) {
    ranks_.all_gather(parcel.values, parcel.bucket->shares);
  } else if (for_owners_only_) {
    ranks_.reduce_scatter(parcel.values, parcel.bucket->shares, transport_);
  } else {
    ranks_.all_reduce(parcel.values, transport_);
  }
}

// A deque keeps its parcels where they are while others come and go at its ends.
void GradientExchange::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto next = [&] { return std::ranges::find(parcels_, false, &Parcel::has_travelled); };
    changed_.wait(lock, [&] { return is_closing_ || next() != parcels_.end(); });
    if (is_closing_) return;
    Parcel& parcel = *next();
    lock.unlock();
    const Clock::time_point start = Clock::now();
    std::exception_ptr error;
    try {
      travel(parcel);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    time_.seconds += seconds_since(start);
    parcel.has_travelled = true;
    error_ = error;
    changed_.notify_all();
    if (error_ != nullptr) return;
  }
}

CommunicationTime GradientExchange::take_time() { return std::exchange(time_, {}); }

}  // namespace cloze::train
