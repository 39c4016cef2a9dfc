#include "cli/options/foreign_options.h"

namespace cloze::cli {
namespace {

using configuration::ForeignSystem;
using configuration::KeyGroup;
using configuration::KeyRule;

void add_keys(OptionTable& table, const ForeignSystem& system, const std::string& task) {
  for (const KeyGroup& group : system.groups) {
    for (const KeyRule& rule : group.rules) {
      const bool counts = rule.option.empty() && system.find(rule.key, task) == &rule &&
                          system.is_for(rule.key, task);
      if (!counts || table.has(rule.key)) continue;
      table.add_foreign({rule.key, rule.note, rule.is_missing, rule.agreeing});
    }
  }
}

void add_aliases(OptionTable& table, const ForeignSystem& system, const KeyGroup& group) {
  for (const KeyRule& rule : group.rules) {
    if (!table.has(rule.option) || table.has(rule.key)) continue;
    table.add_alias({rule.key, rule.option, &system});
  }
}

}  // namespace

void add_foreign_options(OptionTable& table, const std::string& task) {
  add_keys(table, configuration::tensorflow1(), task);
  add_aliases(table, configuration::tensorflow1(), configuration::tensorflow1().groups.front());
  add_aliases(table, configuration::optimum(), configuration::training_arguments());
  table.set_file_form(configuration::tensorflow1());
}

}  // namespace cloze::cli
