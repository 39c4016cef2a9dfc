#include "cli/subcommand.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace cloze::cli {

OptionHandle& OptionHandle::required() {
  option_->required();
  return *this;
}

OptionHandle& OptionHandle::shows_default() {
  option_->capture_default_str();
  return *this;
}

OptionHandle& OptionHandle::excludes(OptionHandle other) {
  option_->excludes(other.option_);
  return *this;
}

OptionHandle& OptionHandle::at_least(int smallest) {
  option_->check(CLI::Range(smallest, std::numeric_limits<int>::max()));
  return *this;
}

Subcommand Subcommand::add_subcommand(const std::string& name, const std::string& help) {
  return Subcommand(*app_->add_subcommand(name, help));
}

void Subcommand::require_subcommand() { app_->require_subcommand(1); }

template <typename T>
OptionHandle Subcommand::add_option(const std::string& flag, T& target, const std::string& help) {
  return OptionHandle(app_->add_option(flag, target, help));
}

// One text each time the flag is given: as a list of CLI11's, "[MASK], the [MASK]" would be two
// texts without their brackets.
template <>
OptionHandle Subcommand::add_option(const std::string& flag, std::vector<std::string>& target,
                                    const std::string& help) {
  const auto take = [&target](const CLI::results_t& texts) {
    target = texts;
    return true;
  };
  CLI::Option* option = app_->add_option(flag, take, help);
  option->type_name("TEXT")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return OptionHandle(option->expected(1)->allow_extra_args(false));
}

OptionHandle Subcommand::add_setting(const std::string& flag,
                                     std::function<void(const std::string&)> set,
                                     const std::string& help) {
  return OptionHandle(app_->add_option_function<std::string>(flag, std::move(set), help));
}

OptionHandle Subcommand::add_flag(const std::string& flag, bool& target, const std::string& help) {
  return OptionHandle(app_->add_flag(flag, target, help));
}

void Subcommand::set_action(std::function<void()> action) { app_->callback(std::move(action)); }

using Text = const std::string&;
template OptionHandle Subcommand::add_option(Text, std::string&, Text);
template OptionHandle Subcommand::add_option(Text, std::filesystem::path&, Text);
template OptionHandle Subcommand::add_option(Text, bool&, Text);
template OptionHandle Subcommand::add_option(Text, int&, Text);
template OptionHandle Subcommand::add_option(Text, int64_t&, Text);
template OptionHandle Subcommand::add_option(Text, uint64_t&, Text);
template OptionHandle Subcommand::add_option(Text, double&, Text);
template OptionHandle Subcommand::add_option(Text, std::optional<bool>&, Text);
template OptionHandle Subcommand::add_option(Text, std::optional<int64_t>&, Text);
template OptionHandle Subcommand::add_option(Text, std::optional<double>&, Text);

}  // namespace cloze::cli
