#include "forecast/exchange.h"

#include <gtest/gtest.h>

#include "forecast/example_steps_test.h"

namespace cloze::forecast {
namespace {

// Two hosts of two ranks. Both ranks of a host send 2 MB over its link of 1 GB/s, to the two of the
// other: the second waits in the queue.
TEST(Exchange, RanksOfAHostShareItsLink) {
  StepModel model =
      model_of({.replicas = 4}, {.ranks_per_host = 2,
                                 .inside_host = {.rate = 1e18},
                                 .between_hosts = Link{.latency = 1e-6, .rate = 1e9}});
  EventQueue queue;
  Exchange exchange(model, queue, {{{.ready = {0.5}, .bytes = {2e6}}}});
  for (int64_t rank = 0; rank < 4; ++rank) exchange.start(rank, 1.0);
  queue.run();
  for (int64_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(exchange.end(rank), 1.508001, 1e-7);
}

// The round is over for a rank when it has heard from the last one.
TEST(Exchange, AllWaitForTheLastRank) {
  StepModel model = model_of({.replicas = 3}, endless_network());
  EventQueue queue;
  Exchange exchange(model, queue,
                    {{{.ready = {0.0}, .bytes = {1.0}}, {.ready = {0.0}, .bytes = {1.0}}}});
  exchange.start(0, 1.0);
  exchange.start(1, 7.0);
  exchange.start(2, 2.0);
  queue.run();
  for (int64_t rank = 0; rank < 3; ++rank) EXPECT_NEAR(exchange.end(rank), 7.0, 1e-9);
}

// Each replica is ready to send at a different time.
TEST(Exchange, ReplicasAreReadyOneByOne) {
  StepModel model = model_of({.replicas = 2}, endless_network());
  EventQueue queue;
  Exchange exchange(model, queue, {{{.ready = {3.0, 1.0}, .bytes = {0.0, 1.0}}}});
  exchange.start(0, 0.0);
  exchange.start(1, 4.0);
  queue.run();
  EXPECT_NEAR(exchange.end(0), 5.0, 1e-9);
  EXPECT_NEAR(exchange.end(1), 5.0, 1e-9);
}

}  // namespace
}  // namespace cloze::forecast
