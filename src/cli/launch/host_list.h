// The machines of a run, as mpirun's hostfile lists them: "NAME slots=4", one a line; # begins a
// comment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cloze::cli {

struct Host {
  std::string name;
  std::optional<int> slots;  // processes that it may have

  bool operator==(const Host&) const = default;
};

// UserError when the file cannot be read, names no host, or has slots that are not positive.
std::vector<Host> read_hosts(const std::filesystem::path& file);

// Those on which the remote shell does not run a command within 15 s: "ssh" or another program that
// takes a host and a command. This machine always answers.
std::vector<Host> silent_hosts(const std::vector<Host>& hosts, const std::string& remote_shell);

// "a, b"
std::string names_of(const std::vector<Host>& hosts);

}  // namespace cloze::cli
