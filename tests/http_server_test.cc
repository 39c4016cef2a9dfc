// The server over a real socket, with a made-up model: what goes wrong on the wire stays there.
#include "serve/http_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <semaphore>
#include <thread>

#include "base/error.h"
#include "http_client.h"
#include "platform/connection.h"
#include "serve/own_endpoint.h"

namespace cloze::serve {
namespace {

using cloze::testing::HttpClient;
using cloze::testing::HttpReply;
using std::chrono::milliseconds;

std::vector<Answer> echo(std::span<const Input> inputs) {
  std::vector<Answer> answers;
  for (const Input& input : inputs) {
    if (input.first.empty()) throw_user_error("the text is empty");
    answers.push_back({.value = {{"echo", input.first}}});
  }
  return answers;
}

struct EchoServer {
  explicit EchoServer(const Limits& limits = {}, Handler handler = echo)
      : service(
            {.model = {{"name", "echo"}},
             .endpoints = {own_endpoint({.path = "/fill", .first_field = "text"}, "echo", limits)},
             .handler = std::move(handler),
             .rules = {.limits = limits}}),
        server(socket, service) {}

  int port() const { return socket.port(); }

  platform::ListeningSocket socket{"127.0.0.1", 0};
  Service service;
  HttpServer server;
};

std::string post(const std::string& body, const std::string& more_fields = "") {
  return fmt::format(
      "POST /fill HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n{}\r\n{}",
      body.size(), more_fields, body);
}

constexpr std::string_view kGetHealth = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

HttpReply reply_to(int port, const std::string& message) {
  HttpClient client(port);
  client.send(message);
  return client.receive();
}

bool closes(const HttpReply& reply) {
  return reply.head.find("Connection: close") != std::string::npos;
}

TEST(HttpServer, AnswersSeveralRequestsOnOneConnection) {
  EchoServer server;
  HttpClient client(server.port());
  for (const std::string text : {"a", "b", "c"}) {
    client.send(post("{\"text\": \"" + text + "\"}"));
    const HttpReply reply = client.receive();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "{\"echo\":\"" + text + "\",\"model\":\"echo\"}\n");
  }
  client.send(std::string(kGetHealth) + post("{\"text\": \"\"}") + std::string(kGetHealth));
  EXPECT_EQ(client.receive().body, "{\"status\":\"ok\"}\n");
  EXPECT_EQ(client.receive().body, "{\"error\":\"the text is empty\"}\n");
  EXPECT_EQ(client.receive().status, 200);
}

TEST(HttpServer, AnswersAsToAProxy) {
  EchoServer server;
  EXPECT_EQ(
      reply_to(server.port(), "GET http://localhost/health?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n")
          .body,
      "{\"status\":\"ok\"}\n");
}

TEST(HttpServer, ALargeBodyArrivesWhole) {
  EchoServer server;
  const std::string text(30'000, 'x');
  const HttpReply reply = reply_to(server.port(), post("{\"text\": \"" + text + "\"}"));
  EXPECT_EQ(reply.body, "{\"echo\":\"" + text + "\",\"model\":\"echo\"}\n");
}

TEST(HttpServer, RefusesBeforeTheBodyAndCloses) {
  EchoServer server;
  const auto status = [&](const std::string& message) {
    HttpClient client(server.port());
    client.send(message);
    const HttpReply reply = client.receive();
    EXPECT_TRUE(closes(reply)) << message;
    EXPECT_EQ(client.receive().status, 0);
    EXPECT_TRUE(formats::Json::parse(reply.body).contains("error"));
    return reply.status;
  };
  const std::string host = "Host: localhost\r\n";
  EXPECT_EQ(status("GET /nothing HTTP/1.1\r\n" + host + "\r\n"), 404);
  EXPECT_EQ(status("GET /fill HTTP/1.1\r\n" + host + "\r\n"), 405);
  EXPECT_EQ(status("POST /fill HTTP/1.1\r\n" + host + "\r\n"), 411);
  EXPECT_EQ(status("POST /fill HTTP/1.1\r\n" + host + "Content-Length: 999999999999\r\n\r\n"), 413);
  EXPECT_EQ(status("POST /fill HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\n1"), 415);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), 421);
  EXPECT_EQ(status("GET http://example.org/ HTTP/1.1\r\n" + host + "\r\n"), 421);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + host + "Content-Length : 1\r\n\r\n1"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + host + "X: " + std::string(9000, 'x') + "\r\n\r\n"), 431);
}

// The client sends all of the body before it reads.
TEST(HttpServer, ABodyOverTheLimitIsReadBeforeItIsRefused) {
  EchoServer server({.body_bytes = 100'000});
  const std::string body(6'400'000, ' ');  // 64 times the limit, more than sockets hold
  const HttpReply reply = reply_to(server.port(), post(body));
  EXPECT_EQ(reply.status, 413);
  EXPECT_TRUE(closes(reply)) << reply.head;
  EXPECT_NE(reply.body.find("the body has 6400000 bytes, more than 100000"), std::string::npos)
      << reply.body;
}

TEST(HttpServer, ABodyOverTheLimitIsNotAskedFor) {
  EchoServer server({.body_bytes = 100});
  HttpClient client(server.port());
  client.send(
      "POST /fill HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413);
}

TEST(HttpServer, LivesOnRubbish) {
  EchoServer server({.transfer_time = milliseconds(200)});
  std::mt19937 draw(1);
  const std::string good = post("{\"text\": \"a\"}");
  for (int i = 0; i < 300; ++i) {
    std::string message = good;
    for (int change = 0; change < 4; ++change)
      message[draw() % message.size()] = static_cast<char>(draw());
    HttpClient client(server.port());
    client.send(i % 3 == 0 ? good.substr(0, draw() % good.size()) : message);
    if (i % 50 != 0) continue;  // most leave without waiting
    const HttpReply reply = client.receive();
    const bool is_clear = reply.status >= 200 && reply.status <= 505;
    EXPECT_TRUE(is_clear || reply.status == 0) << reply.head;
  }
  EXPECT_EQ(reply_to(server.port(), good).status, 200);
}

TEST(HttpServer, APathIsNotCutAtAZero) {
  EchoServer echo_server;
  for (const char* path : {"/health%00", "/%00", "/health%00x"}) {
    const HttpReply reply = reply_to(
        echo_server.port(), fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path));
    EXPECT_EQ(reply.status, 404) << path;
  }
}

TEST(HttpServer, TheLogHasALineARequestWhateverItsPath) {
  std::vector<std::string> lines;
  platform::ListeningSocket socket{"127.0.0.1", 0};
  Service service({.model = {{"name", "none"}}});
  {
    HttpServer server(socket, service, [&](const std::string& line) { lines.push_back(line); });
    reply_to(socket.port(), "GET /x%0aforged%1b%5b31m%ff HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("GET /x%0Aforged%1B[31m%FF 404"), 0u) << lines[0];
}

TEST(HttpServer, TheLogShowsAMethodWithoutItsControlBytes) {
  std::vector<std::string> lines;
  platform::ListeningSocket socket{"127.0.0.1", 0};
  Service service({.model = {{"name", "none"}}});
  {
    HttpServer server(socket, service, [&](const std::string& line) { lines.push_back(line); });
    reply_to(socket.port(), "GET\x1b[31m /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("GET%1B[31m /x 404"), 0u) << lines[0];
}

TEST(HttpServer, SlowClientsAreToldAndEnded) {
  EchoServer server({.transfer_time = milliseconds(100)});
  HttpClient nothing(server.port());
  HttpClient dripping(server.port());
  std::jthread drips([&](const std::stop_token& stop) {
    dripping.send("GET /");
    while (!stop.stop_requested()) {
      dripping.send("a");
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  HttpClient half(server.port());
  half.send(post("{\"text\": \"a\"}").substr(0, 100));
  for (HttpClient* client : {&nothing, &dripping, &half}) {
    const HttpReply reply = client->receive();
    EXPECT_EQ(reply.status, 408);
    EXPECT_EQ(reply.body,
              "{\"error\":\"the whole request did not arrive within 100 ms; send it faster\"}\n");
    EXPECT_EQ(client->receive().status, 0);
  }
}

TEST(HttpServer, ATooLongIdleConnectionEndsInSilence) {
  EchoServer server({.transfer_time = milliseconds(1000)});
  HttpClient client(server.port());
  client.send(kGetHealth);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 0);
}

TEST(HttpServer, AModelThatTakesLongIsWaitedFor) {
  EchoServer server({.transfer_time = milliseconds(1000)}, [](std::span<const Input> inputs) {
    std::this_thread::sleep_for(milliseconds(2000));
    return echo(inputs);
  });
  EXPECT_EQ(reply_to(server.port(), post("{\"text\": \"a\"}")).status, 200);
}

TEST(HttpServer, AFailureInsideIsToldAndTheServerLives) {
  EchoServer server;
  server.service.set_connection_count([]() -> int64_t { throw_environment_error("cannot count"); });
  const HttpReply reply =
      reply_to(server.port(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "{\"error\":\"cannot count\"}\n");
  EXPECT_EQ(reply_to(server.port(), std::string(kGetHealth)).status, 200);
}

TEST(HttpServer, MoreConnectionsThanAllowedAreTold) {
  EchoServer server({.connections = 3});
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.port()));
    clients.back()->send(kGetHealth);
    EXPECT_EQ(clients.back()->receive().status, 200);
  }
  const HttpReply reply = reply_to(server.port(), std::string(kGetHealth));
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.head.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(reply.body, "{\"error\":\"there are 3 connections already; try again later\"}\n");
}

TEST(HttpServer, StoppingAnswersWhatWaits) {
  std::counting_semaphore<> begun(0), gate(0);
  EchoServer server({.queue = {.batch_inputs = 1}}, [&](std::span<const Input> inputs) {
    begun.release();
    gate.acquire();
    return echo(inputs);
  });
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.port()));
    clients.back()->send(post("{\"text\": \"a\"}"));
  }
  begun.acquire();
  const std::string three_wait = "\ncloze_waiting_inputs 2\n";
  while (reply_to(server.port(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
             .body.find(three_wait) == std::string::npos) {
  }
  std::jthread stopper([&] { server.server.stop(); });
  gate.release(10);
  for (const auto& client : clients) EXPECT_EQ(client->receive().status, 200);
}

TEST(HttpServer, AClientThatKeptItsConnectionIsAnsweredWhileTheServerStops) {
  std::counting_semaphore<> begun(0), gate(0);
  EchoServer server({}, [&](std::span<const Input> inputs) {
    if (inputs[0].first == "slow") {
      begun.release();
      gate.acquire();
    }
    return echo(inputs);
  });
  HttpClient kept(server.port()), slow(server.port());
  kept.send(post("{\"text\": \"a\"}"));
  EXPECT_FALSE(closes(kept.receive()));
  slow.send(post("{\"text\": \"slow\"}"));
  begun.acquire();
  std::jthread stopper([&] { server.server.stop(); });
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(10'000);
  HttpReply reply;
  do {  // until the thread has begun to stop
    kept.send(kGetHealth);
    reply = kept.receive();
  } while (reply.status == 200 && !closes(reply) && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(closes(reply)) << reply.head;
  gate.release();
  const HttpReply late = slow.receive();
  EXPECT_EQ(late.status, 200);
  EXPECT_TRUE(closes(late)) << late.head;
}

TEST(HttpServer, WhoComesWhileTheServerStopsIsRefused) {
  std::counting_semaphore<> begun(0), gate(0);
  EchoServer server({}, [&](std::span<const Input> inputs) {
    begun.release();
    gate.acquire();
    return echo(inputs);
  });
  HttpClient slow(server.port());
  slow.send(post("{\"text\": \"slow\"}"));
  begun.acquire();
  std::jthread stopper([&] { server.server.stop(); });
  bool is_refused = false;
  for (int i = 0; i < 200 && !is_refused; ++i) {  // fewer than may wait to be accepted
    std::this_thread::sleep_for(milliseconds(10));
    is_refused = !platform::Connection::to("127.0.0.1", server.port(), milliseconds(1000));
  }
  EXPECT_TRUE(is_refused);
  gate.release();
  EXPECT_EQ(slow.receive().status, 200);
}

TEST(HttpServer, AConnectionThatNobodyUsesHoldsNoStopUp) {
  EchoServer server;
  HttpClient idle(server.port());
  idle.send(kGetHealth);
  EXPECT_EQ(idle.receive().status, 200);
  const auto begin = std::chrono::steady_clock::now();
  server.server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000));
}

TEST(HttpServer, ClientsThatLeaveWhileTheModelWorksHarmNobody) {
  EchoServer server({}, [](std::span<const Input> inputs) {
    std::this_thread::sleep_for(milliseconds(2));
    return echo(inputs);
  });
  for (int i = 0; i < 50; ++i) HttpClient(server.port()).send(post("{\"text\": \"a\"}"));
  EXPECT_EQ(reply_to(server.port(), post("{\"text\": \"a\"}")).status, 200);
}

}  // namespace
}  // namespace cloze::serve
