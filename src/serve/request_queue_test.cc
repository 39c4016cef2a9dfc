#include "serve/request_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <semaphore>

#include "base/error.h"

namespace cloze::serve {
namespace {

using std::chrono::milliseconds;

std::vector<Input> texts(size_t count, const std::string& text = "x") {
  return std::vector<Input>(count, Input{.first = text});
}

std::vector<Answer> echo(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (const Input& input : inputs) answers.push_back({.value = input.first});
  return answers;
}

// A model that signals when it has begun, goes on when told, and records its inputs by batch.
class GatedModel {
 public:
  Handler handler() {
    return [this](std::span<const Input> inputs) {
      batches.push_back(inputs.size());
      begun_.release();
      gate_.acquire();
      return echo(inputs);
    };
  }
  void wait_until_begun() { begun_.acquire(); }
  void let_go(int batches = 1) { gate_.release(batches); }

  std::vector<size_t> batches;

 private:
  std::counting_semaphore<> begun_{0};
  std::counting_semaphore<> gate_{0};
};

std::future<QueueReply> submit(RequestQueue& queue, std::vector<Input> inputs) {
  const auto promise = std::make_shared<std::promise<QueueReply>>();
  queue.submit(std::move(inputs), [promise](QueueReply reply) { promise->set_value(reply); });
  return promise->get_future();
}

TEST(RequestQueue, AnswersInOrderOfInputs) {
  RequestQueue queue(echo, {});
  const QueueReply reply = submit(queue, {{.first = "a"}, {.first = "b"}, {.first = "c"}}).get();
  ASSERT_EQ(reply.result, QueueResult::kAnswered);
  ASSERT_EQ(reply.outputs.size(), 3u);
  EXPECT_EQ(reply.outputs[0].answer.value, "a");
  EXPECT_EQ(reply.outputs[2].answer.value, "c");
}

TEST(RequestQueue, WhatWaitsIsRunTogetherUpToTheLimits) {
  GatedModel model;
  std::vector<int64_t> observed;
  RequestQueue queue(model.handler(), {.batch_inputs = 4, .batch_bytes = 100},
                     [&](BatchSize size) { observed.push_back(size.inputs); });
  std::vector<std::future<QueueReply>> replies;
  replies.push_back(submit(queue, texts(1)));
  model.wait_until_begun();
  for (const size_t count : {2, 2, 1, 5, 1}) replies.push_back(submit(queue, texts(count)));
  replies.push_back(submit(queue, texts(1, std::string(99, 'x'))));
  replies.push_back(
      submit(queue, texts(1)));  // 101 bytes with the one before and the one before it
  EXPECT_EQ(queue.waiting_inputs(), 13);
  model.let_go(20);
  for (auto& reply : replies) EXPECT_EQ(reply.get().result, QueueResult::kAnswered);
  queue.stop();
  EXPECT_EQ(model.batches, (std::vector<size_t>{1, 4, 1, 4, 2, 2}));
  EXPECT_EQ(observed, (std::vector<int64_t>{1, 4, 1, 4, 2, 2}));
  EXPECT_EQ(queue.waiting_inputs(), 0);
}

// A long list steps back behind whoever came meanwhile, once a batch; its outputs stay in order.
TEST(RequestQueue, ALongRequestIsRunInBatchesBetweenOthers) {
  GatedModel model;
  RequestQueue queue(model.handler(), {.batch_inputs = 3, .waiting_time = milliseconds(50)});
  std::vector<Input> many;
  for (int i = 0; i < 8; ++i) many.push_back({.first = std::to_string(i)});
  auto list = submit(queue, std::move(many));
  model.wait_until_begun();
  EXPECT_EQ(queue.waiting_inputs(), 5);
  auto other = submit(queue, texts(1));
  model.let_go();
  model.wait_until_begun();
  model.let_go();
  EXPECT_EQ(other.get().result, QueueResult::kAnswered);
  model.wait_until_begun();
  std::this_thread::sleep_for(milliseconds(80));  // what has begun does not expire
  model.let_go();
  model.wait_until_begun();
  model.let_go();
  const QueueReply reply = list.get();
  ASSERT_EQ(reply.result, QueueResult::kAnswered);
  ASSERT_EQ(reply.outputs.size(), 8u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(reply.outputs[i].answer.value, std::to_string(i));
  EXPECT_EQ(model.batches, (std::vector<size_t>{3, 1, 3, 2}));
  EXPECT_GT(reply.times.worked, 0.05);
}

TEST(RequestQueue, ALongRequestThatFailsLeavesNothingBehind) {
  int batch = 0;
  RequestQueue queue(
      [&](std::span<const Input> inputs) {
        if (++batch == 2) throw_environment_error("no memory");
        return echo(inputs);
      },
      {.batch_inputs = 2});
  EXPECT_EQ(submit(queue, texts(7)).get().result, QueueResult::kFailed);
  EXPECT_EQ(queue.waiting_inputs(), 0);
  EXPECT_EQ(submit(queue, texts(7)).get().result, QueueResult::kAnswered);
}

TEST(RequestQueue, CandidatesOfABatchAreLimited) {
  GatedModel model;
  RequestQueue queue(model.handler(), {.batch_candidates = 10});
  std::vector<std::future<QueueReply>> replies;
  replies.push_back(submit(queue, texts(1)));
  model.wait_until_begun();
  for (const int64_t candidates : {4, 6, 1, 10, 2}) {
    replies.push_back(submit(queue, {{.first = "a", .candidates = candidates}}));
  }
  model.let_go(20);
  for (auto& reply : replies) EXPECT_EQ(reply.get().result, QueueResult::kAnswered);
  queue.stop();
  EXPECT_EQ(model.batches, (std::vector<size_t>{1, 2, 1, 1, 1}));
}

TEST(RequestQueue, NoMemoryForABatchIsSaidInWords) {
  const Handler handler = [](std::span<const Input>) -> std::vector<Answer> {
    throw std::bad_alloc();
  };
  RequestQueue queue(handler, {});
  const QueueReply reply = submit(queue, texts(2)).get();
  EXPECT_EQ(reply.result, QueueResult::kFailed);
  EXPECT_EQ(reply.error, "there is no memory for it; send fewer inputs at once");
}

TEST(RequestQueue, WaitsForCompanyAsLongAsAsked) {
  std::vector<size_t> batches;
  const Handler handler = [&](std::span<const Input> inputs) {
    batches.push_back(inputs.size());
    return echo(inputs);
  };
  RequestQueue queue(handler, {.batch_inputs = 3, .batch_wait = std::chrono::hours(1)});
  auto first = submit(queue, texts(1));
  auto second = submit(queue, texts(1));
  EXPECT_EQ(first.wait_for(milliseconds(5)), std::future_status::timeout);
  auto third = submit(queue, texts(1));  // the batch is full
  first.get();
  third.get();
  EXPECT_EQ(batches, std::vector<size_t>{3});
  auto fourth = submit(queue, texts(1));
  queue.stop();  // nothing more will come
  EXPECT_EQ(fourth.get().result, QueueResult::kAnswered);
}

TEST(RequestQueue, RefusesWhatDoesNotFitAndLosesNothing) {
  GatedModel model;
  RequestQueue queue(model.handler(), {.waiting_inputs = 10});
  auto running = submit(queue, texts(1));
  model.wait_until_begun();
  auto waiting = submit(queue, texts(8));
  EXPECT_EQ(submit(queue, texts(3)).get().result, QueueResult::kFull);
  auto last = submit(queue, texts(2));
  EXPECT_EQ(submit(queue, texts(1)).get().result, QueueResult::kFull);
  model.let_go(5);
  for (auto* reply : {&running, &waiting, &last}) {
    EXPECT_EQ(reply->get().result, QueueResult::kAnswered);
  }
}

TEST(RequestQueue, WhatWaitsTooLongExpiresWhileTheModelWorks) {
  GatedModel model;
  RequestQueue queue(model.handler(), {.waiting_time = milliseconds(20)});
  auto running = submit(queue, texts(1));
  model.wait_until_begun();
  auto late = submit(queue, texts(3));
  EXPECT_EQ(late.get().result, QueueResult::kExpired);  // the model has not moved
  EXPECT_EQ(queue.waiting_inputs(), 0);
  model.let_go();
  EXPECT_EQ(running.get().result, QueueResult::kAnswered);  // what has begun is finished
}

TEST(RequestQueue, StoppingFinishesWhatWaitsAndRefusesTheRest) {
  GatedModel model;
  RequestQueue queue(model.handler(), {.batch_inputs = 1});
  std::vector<std::future<QueueReply>> replies;
  for (int i = 0; i < 5; ++i) replies.push_back(submit(queue, texts(1)));
  model.wait_until_begun();
  std::jthread stopper([&] { queue.stop(); });
  const auto is_refused = [](std::future<QueueReply>& reply) {
    return reply.wait_for(milliseconds(1)) == std::future_status::ready;
  };
  while (true) {  // until the stop has begun, more requests queue up
    std::future<QueueReply> reply = submit(queue, texts(1));
    if (is_refused(reply)) {
      EXPECT_EQ(reply.get().result, QueueResult::kStopping);
      break;
    }
    replies.push_back(std::move(reply));
  }
  model.let_go(1000);
  for (auto& reply : replies) EXPECT_EQ(reply.get().result, QueueResult::kAnswered);
}

TEST(RequestQueue, AFailureIsToldToItsBatchAndTheQueueLives) {
  bool fails = true;
  RequestQueue queue(
      [&](std::span<const Input> inputs) {
        if (fails) throw_environment_error("no memory");
        return echo(inputs);
      },
      {});
  const QueueReply reply = submit(queue, texts(2)).get();
  EXPECT_EQ(reply.result, QueueResult::kFailed);
  EXPECT_EQ(reply.error, "no memory");
  fails = false;
  EXPECT_EQ(submit(queue, texts(2)).get().result, QueueResult::kAnswered);
}

TEST(RequestQueue, EachRequestIsFinishedOnceWhateverHappens) {
  constexpr int kThreads = 4, kEach = 500;
  std::atomic<int> finished = 0, answered = 0;
  {
    RequestQueue queue(echo,
                       {.waiting_inputs = 8, .batch_inputs = 3, .waiting_time = milliseconds(1)});
    std::vector<std::jthread> clients;
    for (int t = 0; t < kThreads; ++t) {
      clients.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          queue.submit(texts(1 + i % 3), [&, i](QueueReply reply) {
            ++finished;
            if (reply.result != QueueResult::kAnswered) return;
            ++answered;
            EXPECT_EQ(std::ssize(reply.outputs), 1 + i % 3);
          });
        }
      });
    }
  }
  EXPECT_EQ(finished, kThreads * kEach);
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace cloze::serve
