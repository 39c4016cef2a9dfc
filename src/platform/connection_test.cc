#include "platform/connection.h"

#include <gtest/gtest.h>

#include <thread>

namespace cloze::platform {
namespace {

using std::chrono::milliseconds;

struct Ends {
  ListeningSocket socket{"127.0.0.1", 0};
  std::optional<Connection> caller = Connection::to("127.0.0.1", socket.port(), milliseconds(1000));
  std::optional<Connection> called = Connection::from(socket);
};

std::vector<std::string> lines_of(Connection& connection, size_t count) {
  std::vector<std::string> all;
  for (int i = 0; i < 200 && all.size() < count && !connection.is_over(); ++i) {
    for (std::string& line : connection.lines()) all.push_back(std::move(line));
    std::this_thread::sleep_for(milliseconds(5));
  }
  return all;
}

TEST(Connection, CarriesLinesBothWays) {
  Ends ends;
  ASSERT_TRUE(ends.caller && ends.called);
  ends.caller->send("one");
  ends.caller->send("and two");
  ends.called->send("three");
  EXPECT_EQ(lines_of(*ends.called, 2), (std::vector<std::string>{"one", "and two"}));
  EXPECT_EQ(lines_of(*ends.caller, 1), std::vector<std::string>{"three"});
  EXPECT_TRUE(ends.caller->lines().empty());
}

TEST(Connection, SeesItsEndAfterTheLastLine) {
  Ends ends;
  ASSERT_TRUE(ends.caller && ends.called);
  ends.caller->send("last");
  ends.caller.reset();
  EXPECT_EQ(lines_of(*ends.called, 2), std::vector<std::string>{"last"});
  EXPECT_TRUE(ends.called->is_over());
}

// If a side ends with unread input, the system resets the connection: what has not been sent by
// then is lost.
TEST(Connection, SendsTheLastLineThoughItDoesNotListen) {
  Ends ends;
  ASSERT_TRUE(ends.caller && ends.called);
  for (int i = 0; i < 50; ++i) {  // until the system delays its acknowledgements
    ends.called->send("and you?");
    EXPECT_EQ(lines_of(*ends.caller, 1).size(), 1u);
    ends.caller->send("well");
    EXPECT_EQ(lines_of(*ends.called, 1).size(), 1u);
  }
  ends.called->send("not listened to");
  ends.caller->send("first");
  ends.caller->send("last");
  ends.caller.reset();
  EXPECT_EQ(lines_of(*ends.called, 2), (std::vector<std::string>{"first", "last"}));
}

TEST(Connection, AFloodIsTakenInParts) {
  Ends ends;
  ASSERT_TRUE(ends.caller && ends.called);
  const size_t count = 20'000;
  std::string flood;
  for (size_t i = 1; i < count; ++i) flood += "x\n";
  ends.caller->send(flood + "last");
  const std::vector<std::string> first = ends.called->lines();
  EXPECT_LT(first.size(), count / 2);
  const std::vector<std::string> others = lines_of(*ends.called, count - first.size());
  ASSERT_EQ(first.size() + others.size(), count);
  EXPECT_EQ(others.back(), "last");
}

TEST(Connection, ALineThatIsTooLongEndsIt) {
  for (const std::string end : {"\nnext", ""}) {
    Ends ends;
    ASSERT_TRUE(ends.caller && ends.called);
    ends.caller->send("short\n" + std::string(4096, 'x') + "\n" + std::string(4097, 'x') + end);
    EXPECT_EQ(lines_of(*ends.called, 3).size(), 2u);
    EXPECT_TRUE(ends.called->is_over());
  }
}

TEST(Connection, NobodyAnswers) {
  int port = 0;
  { port = ListeningSocket("127.0.0.1", 0).port(); }
  EXPECT_FALSE(Connection::to("127.0.0.1", port, milliseconds(500)));
  EXPECT_FALSE(Connection::to("a name", port, milliseconds(500)));
  EXPECT_FALSE(Connection::from(ListeningSocket("127.0.0.1", 0)));
}

TEST(OwnAddresses, EndWithTheLoopback) { EXPECT_EQ(own_addresses().back(), "127.0.0.1"); }

}  // namespace
}  // namespace cloze::platform
