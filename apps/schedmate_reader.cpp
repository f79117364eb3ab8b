// SPDX-License-Identifier: Apache-2.0

/// schedmate-reader: reads logs and trees for users, each with the user's rights.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <utility>

#include "apps/console.hpp"
#include "apps/version.hpp"
#include "reader/program.hpp"
#include "service/redaction.hpp"

namespace schedmate {
namespace {

volatile std::sig_atomic_t stop_wanted = 0;
void heed_stop(int) { stop_wanted = 1; }

int run_program(int count, char** words, char** environment) {
  const Console console;
  const auto say = [&](const std::string& line) {
    console.draw(fmt::format("schedmate-reader: {}\n", service::safe_line(line)));
  };
  CLI::App parser{"Reads logs and trees for users, each with the user's rights (docs/reader.md)",
                  "schedmate-reader"};
  reader::Program program{.environment = settings::read_environment(environment),
                          .stopped = [] { return stop_wanted != 0; },
                          .say = say};
  std::vector<std::string> pairs;
  bool is_child = false;
  parser.set_version_flag("--version", fmt::format("schedmate-reader {}", version().version));
  parser.add_option("--socket", program.socket, "where to listen; default: setting reader.socket")
      ->type_name("PATH");
  parser.add_option("--config", program.sources.file, "settings file (TOML)")->type_name("FILE");
  parser.add_option("--set", pairs, "another setting")->type_name("KEY=VALUE");
  parser.add_flag("--work", is_child, "")->group("");  // what it starts for each request
  Result<void> done;
  try {
    parser.parse(count, words);
  } catch (const CLI::Success& asked) {
    return parser.exit(asked);
  } catch (const CLI::ParseError& error) {
    done = fail(ErrorCode::unsupported, fmt::format("{} (schedmate-reader --help)", error.what()));
  }
  if (done && is_child) return reader::run_work(program.environment);
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, heed_stop);
  std::signal(SIGPIPE, SIG_IGN);
  auto given = settings::read_pairs(pairs, "--set");
  if (done && !given) done = tl::unexpected(given.error());
  if (given) program.sources.given = std::move(*given);
  if (done) done = reader::run_reader(program);
  if (!done) say(done.error().message);
  return done ? 0 : exit_code(done.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words, char** environment) {
  return schedmate::run_program(count, words, environment);
}
