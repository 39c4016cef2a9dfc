#include "platform/socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/connection.h"

namespace cloze::platform {
namespace {

TEST(ListeningSocket, TakesAFreePortAndSaysWhereItIs) {
  const ListeningSocket socket("127.0.0.1", 0);
  EXPECT_GT(socket.port(), 0);
  EXPECT_EQ(socket.address(), fmt::format("127.0.0.1:{}", socket.port()));
  EXPECT_TRUE(socket.is_loopback());
  EXPECT_TRUE(ListeningSocket("localhost", 0).is_loopback());
  EXPECT_FALSE(ListeningSocket("0.0.0.0", 0).is_loopback());
}

TEST(ListeningSocket, RefusesWhoCallsAfterTheStop) {
  const ListeningSocket socket("127.0.0.1", 0);
  EXPECT_TRUE(Connection::to("127.0.0.1", socket.port(), std::chrono::milliseconds(1000)));
  socket.stop();
  EXPECT_FALSE(Connection::to("127.0.0.1", socket.port(), std::chrono::milliseconds(1000)));
}

TEST(ListeningSocket, ErrorsNameTheAddress) {
  const ListeningSocket first("127.0.0.1", 0);
  const auto message = [](const std::string& host, int port) -> std::string {
    try {
      ListeningSocket(host, port);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("127.0.0.1", first.port()),
            fmt::format("cannot listen on 127.0.0.1 port {}: Address already in use; choose "
                        "another port or host",
                        first.port()));
  EXPECT_EQ(message("127.0.0.1", 65536),
            "port 65536 is not between 0 and 65535; give another, or 0 for any free one");
  EXPECT_TRUE(message("256.0.0.1", 0).starts_with("host \"256.0.0.1\" is not known: "));
}

TEST(EndConnection, SaysTheLastWordsAndEnds) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  end_connection(pair[0], "bye");
  char text[8] = {};
  EXPECT_EQ(::recv(pair[1], text, sizeof text, 0), 3);
  EXPECT_EQ(std::string_view(text), "bye");
  EXPECT_EQ(::recv(pair[1], text, sizeof text, 0), 0);  // the end
  ::close(pair[0]);
  ::close(pair[1]);
}

}  // namespace
}  // namespace cloze::platform
