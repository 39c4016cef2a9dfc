#include "cli/launch/mpirun_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "comm/launch_watch.h"

namespace cloze::cli {
namespace {

constexpr const char* kSafe =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string list_of(const std::vector<Host>& hosts) {
  std::vector<std::string> texts;
  for (const Host& host : hosts) {
    texts.push_back(fmt::format("{}:{}", host.name, host.slots.value_or(1)));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace

std::vector<std::string> mpirun_command(const MpirunSetting& setting) {
  std::vector<std::string> words{setting.mpirun, "-n", std::to_string(setting.processes)};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  if (setting.is_superuser) add({"--allow-run-as-root"});
  add({"--bind-to", "none", "-x", std::string(kSharesProcessors) + "=1"});
  if (!setting.launcher.empty()) {
    add({"-x", fmt::format("{}={}", comm::kLauncher, setting.launcher)});
  }
  if (!setting.can_read_others) add({"--mca", "btl_vader_single_copy_mechanism", "none"});
  const bool has_hosts = !setting.hosts_file.empty() || !setting.hosts.empty();
  if (has_hosts) {
    if (setting.hosts.empty()) add({"--hostfile", setting.hosts_file.string()});
    if (!setting.hosts.empty()) add({"--host", list_of(setting.hosts)});
    add({"--mca", "plm_rsh_agent", setting.remote_shell});
  } else {
    add({"--oversubscribe"});
    // Otherwise mpirun looks for one all the same, and does not start.
    if (setting.remote_shell.empty()) add({"--mca", "plm", "isolated"});
  }
  words.insert(words.end(), setting.command.begin(), setting.command.end());
  return words;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> texts;
  for (const std::string& word : words) texts.push_back(quoted(word));
  return fmt::format("{}", fmt::join(texts, " "));
}

std::vector<std::string> take_launched_command(std::vector<std::string>& words) {
  if (words.empty() || words.front() != "launch") return {};
  const auto border = std::ranges::find(words, "--");
  std::vector<std::string> command;
  if (border != words.end()) command.assign(border + 1, words.end());
  words.erase(border, words.end());
  std::ranges::replace(words, std::string("-n"), std::string("--processes"));
  return command;
}

}  // namespace cloze::cli
