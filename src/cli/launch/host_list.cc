#include "cli/launch/host_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <list>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/whole_number.h"
#include "platform/child.h"
#include "platform/process.h"

namespace cloze::cli {
namespace {

using platform::ChildProgram;

constexpr std::chrono::seconds kPatience{15};
constexpr std::string_view kSlots = "slots=";

int slots_from(const std::string& word, const std::filesystem::path& file) {
  const auto slots = number_in<int>(std::string_view(word).substr(kSlots.size()));
  if (slots && *slots > 0) return *slots;
  throw_user_error("{}: \"{}\" gives no number of processes; write slots=4", file.string(), word);
}

bool is_here(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == platform::host_name();
}

std::vector<std::string> call(const std::string& remote_shell, const std::string& host) {
  std::vector<std::string> words{remote_shell};
  if (std::filesystem::path(remote_shell).filename() == "ssh") {
    words.insert(words.end(), {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10"});
  }
  words.insert(words.end(), {host, "true"});
  return words;
}

}  // namespace

std::vector<Host> read_hosts(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) {
    throw_user_error(
        "cannot read the hosts file {}; write one, with one host per line: NAME slots=4",
        file.string());
  }
  std::vector<Host> hosts;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    Host host;
    if (!(words >> host.name)) continue;
    for (std::string word; words >> word;) {
      if (word.starts_with(kSlots)) host.slots = slots_from(word, file);
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) {
    throw_user_error("the hosts file {} names no host; write one per line: NAME slots=4",
                     file.string());
  }
  return hosts;
}

std::vector<Host> silent_hosts(const std::vector<Host>& hosts, const std::string& remote_shell) {
  struct Call {
    const Host* host;
    ChildProgram program;
    Call(const Host& called, const std::string& shell)
        : host(&called), program(call(shell, called.name), ChildProgram::Output::kQuiet) {}
  };
  std::list<Call> calls;
  for (const Host& host : hosts) {
    if (!is_here(host.name)) calls.emplace_back(host, remote_shell);
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const auto is_over = [](Call& one) { return one.program.exit_code().has_value(); };
  while (!std::ranges::all_of(calls, is_over) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<Host> silent;
  for (Call& one : calls) {
    if (one.program.exit_code() != 0) silent.push_back(*one.host);
  }
  return silent;
}

std::string names_of(const std::vector<Host>& hosts) {
  std::vector<std::string> names;
  for (const Host& host : hosts) names.push_back(host.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace cloze::cli
