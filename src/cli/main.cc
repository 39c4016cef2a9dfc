// cloze: trains BERT. Each subcommand is a file of this folder; errors become exit codes here.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cli/data_records.h"
#include "cli/data_sample.h"
#include "cli/data_stats.h"

namespace {

enum ExitCode { kInternal = 1, kUser = 2, kData = 3, kEnvironment = 4 };

int report(ExitCode code, const std::exception& error) {
  fmt::print(stderr, "cloze: {}\n", error.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("cloze: trains BERT from plain text", "cloze");
  app.require_subcommand(1);
  CLI::App& data = *app.add_subcommand("data", "Make training data");
  data.require_subcommand(1);
  cloze::cli::add_data_records(data);
  cloze::cli::add_data_sample(data);
  cloze::cli::add_data_stats(data);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUser;
  } catch (const cloze::DataError& error) {
    return report(kData, error);
  } catch (const cloze::UserError& error) {
    return report(kUser, error);
  } catch (const cloze::EnvironmentError& error) {
    return report(kEnvironment, error);
  } catch (const std::exception& error) {
    return report(kInternal, error);
  }
  return 0;
}
