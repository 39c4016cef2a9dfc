#include "serve/connection_watch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "platform/socket.h"

namespace cloze::serve {
namespace {

using Stage = ConnectionWatch::Stage;
using std::chrono::milliseconds;

// No such descriptor: ending it does nothing; the test only looks at which connections are ended.
constexpr int kNoDescriptor = -1;

TEST(ConnectionWatch, CountsWhatItKnows) {
  ConnectionWatch watch({});
  auto* a = watch.add(kNoDescriptor);
  auto* b = watch.add(kNoDescriptor);
  EXPECT_EQ(watch.count(), 2);
  watch.forget(a);
  EXPECT_EQ(watch.count(), 1);
  watch.forget(b);
}

TEST(ConnectionWatch, OnlyALateRequestIsReported) {
  std::atomic<int> late = 0;
  ConnectionWatch watch({.time = milliseconds(20), .on_late_request = [&] { ++late; }});
  std::vector<ConnectionWatch::Connection*> all;
  for (const Stage stage : {Stage::kReceiving, Stage::kWorking, Stage::kIdle, Stage::kSending}) {
    all.push_back(watch.add(kNoDescriptor));
    watch.enter(all.back(), stage);
  }
  while (late == 0) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(late, 1);
  for (auto* one : all) watch.forget(one);
}

TEST(ConnectionWatch, DripsDoNotBuyTime) {
  std::atomic<int> late = 0;
  ConnectionWatch watch({.time = milliseconds(30), .on_late_request = [&] { ++late; }});
  auto* connection = watch.add(kNoDescriptor);
  while (late == 0) watch.enter(connection, Stage::kReceiving);  // as each byte would
  watch.forget(connection);
}

TEST(ConnectionWatch, WaitsForReplies) {
  ConnectionWatch watch({.time = std::chrono::hours(1)});
  auto* working = watch.add(kNoDescriptor);
  auto* receiving = watch.add(kNoDescriptor);
  watch.enter(working, Stage::kWorking);
  std::jthread model([&] {
    std::this_thread::sleep_for(milliseconds(5));
    watch.enter(working, Stage::kSending);
    watch.enter(working, Stage::kIdle);
  });
  watch.wait_until_answered();  // returns, although one is receiving
  model.join();
  watch.forget(working);
  watch.forget(receiving);
}

}  // namespace
}  // namespace cloze::serve
