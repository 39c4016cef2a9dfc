#include "configuration/foreign_system.h"

#include <algorithm>

#include "configuration/system_file.h"
#include "configuration/systems/habana_yml.h"
#include "configuration/systems/mlperf_yml.h"
#include "configuration/systems/optimum_yml.h"
#include "configuration/systems/tensorflow1_yml.h"
#include "configuration/systems/tensorflow2_yml.h"

namespace cloze::configuration {
namespace {

bool matches(const std::string& pattern, std::string_view key) {
  if (!pattern.ends_with("*")) return pattern == key;
  return key.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
}

const KeyRule* find_in(const KeyGroup& group, std::string_view key) {
  const auto rule = std::find_if(group.rules.begin(), group.rules.end(),
                                 [&](const KeyRule& one) { return matches(one.key, key); });
  return rule == group.rules.end() ? nullptr : &*rule;
}

}  // namespace

const KeyRule* ForeignSystem::find(std::string_view key, std::string_view task) const {
  const auto search = [&](auto is_wanted) -> const KeyRule* {
    for (const KeyGroup& group : groups) {
      if (!is_wanted(group)) continue;
      if (const KeyRule* rule = find_in(group, key)) return rule;
    }
    return nullptr;
  };
  if (const KeyRule* own = search([&](auto& group) { return group.task == task; })) return own;
  if (const KeyRule* any = search([](auto& group) { return group.task.empty(); })) return any;
  return search([](const KeyGroup&) { return true; });
}

formats::Json ForeignSystem::meant(const std::string& option, const formats::Json& value) const {
  const auto meaning = std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& one) {
    return one.option == option && one.there == value;
  });
  return meaning == meanings.end() ? value : meaning->here;
}

bool ForeignSystem::is_for(std::string_view key, std::string_view task) const {
  return std::any_of(groups.begin(), groups.end(), [&](const KeyGroup& group) {
    return (group.task.empty() || group.task == task) && find_in(group, key) != nullptr;
  });
}

const std::vector<const ForeignSystem*>& foreign_systems() {
  static const ForeignSystem read[] = {
      read_system("tensorflow1.yml", kTensorflow1, tensorflow1_computations()),
      read_system("tensorflow2.yml", kTensorflow2, tensorflow2_computations()),
      read_system("mlperf.yml", kMlperf, mlperf_computations()),
      read_system("habana.yml", kHabana, habana_computations()),
      read_system("optimum.yml", kOptimum, optimum_computations())};
  static const std::vector<const ForeignSystem*> systems = {&read[0], &read[1], &read[2], &read[3],
                                                            &read[4]};
  return systems;
}

const ForeignSystem& tensorflow1() { return *foreign_systems()[0]; }
const ForeignSystem& habana() { return *foreign_systems()[3]; }
const ForeignSystem& optimum() { return *foreign_systems()[4]; }
const KeyGroup& training_arguments() { return optimum().groups.back(); }

bool is_off(const formats::Json& value) {
  return value.is_null() || value == false || value == 0 || value == "" || value == "false";
}

}  // namespace cloze::configuration
