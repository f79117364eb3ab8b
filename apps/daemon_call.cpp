// SPDX-License-Identifier: Apache-2.0
#include "apps/daemon_call.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "screen/fields.hpp"

namespace schedmate {

void add_daemon(CLI::App& command, client::WhichDaemon& which) {
  command
      .add_option("--address", which.address,
                  "where the daemon answers: unix:PATH or http://HOST:PORT; default: as the\n"
                  "settings say, else unix:/run/schedmate/api.sock")
      ->type_name("ADDRESS");
  command
      .add_option("--token-file", which.token_file,
                  "file with the token for http://; default: the variable SCHEDMATE_TOKEN")
      ->type_name("FILE");
}

void add_optional_daemon(CLI::App& command, client::WhichDaemon& which) {
  add_daemon(command, which);
  command.get_option("--address")
      ->description(
          "ask the daemon there about the job: unix:PATH or http://HOST:PORT; default: the one\n"
          "whose socket (settings, else /run/schedmate/api.sock) answers, if one does");
}

Result<int> show(const CommandCall& call, const Result<Document>& answer,
                 const ShowDocument& text) {
  if (!answer) return tl::unexpected(answer.error());
  if (call.json)
    call.console.json(*answer);
  else
    call.console.text(text(*answer, screen::screen_style(call.session.environment)));
  return 0;
}

std::optional<std::int64_t> cluster_now(const client::DaemonClient& daemon) {
  const auto cluster = client::ask(daemon, {.path = "/api/v1/cluster"}, "schedmate.cluster.v1");
  return cluster ? screen::whole(*cluster, "now_s") : std::nullopt;
}

std::string query_of(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query)
    if (!value.empty())
      text +=
          fmt::format("{}{}={}", text.empty() ? "?" : "&", name, client::percent_encoded(value));
  return text;
}

Result<std::vector<Document>> all_pages(const client::DaemonClient& daemon, const PagedList& list) {
  constexpr int most_pages = 500;  // of which a caller may see little
  std::vector<Document> all;
  Query query = list.query;
  constexpr std::size_t most_of_page = 5000, most_documents = 500'000;
  const std::size_t wanted = list.enough > 0 ? list.enough + 1 : most_of_page;
  query.emplace_back("limit", std::to_string(std::min(wanted, most_of_page)));
  query.emplace_back("cursor", "");
  for (int i = 0; i < most_pages && all.size() < most_documents; ++i) {
    auto page = client::ask(daemon, {.path = list.path + query_of(query)}, list.schema);
    if (!page) return tl::unexpected(page.error());
    if (const auto found = page->find(list.key); found != page->end() && found->is_array())
      for (Document& each : *found) all.push_back(std::move(each));
    std::string next = screen::word(*page, "next");
    if (next.empty() || next == query.back().second) break;
    if (list.enough > 0 && all.size() > list.enough) break;
    query.back().second = std::move(next);
  }
  return all;
}

Error behind(const DaemonsWord& word, Error error) {
  if (word.denial.empty()) return error;
  return {ErrorCode::not_found, word.denial + "; elsewhere: " + error.message};
}

Result<DaemonsWord> ask_about_job(const client::DaemonClient& daemon,
                                  const client::WhichDaemon& which, const std::string& path,
                                  std::string_view schema) {
  auto told = client::ask(daemon, {.path = path}, schema);
  if (told) return DaemonsWord{.document = std::make_shared<const Document>(std::move(*told))};
  if (told.error().code == ErrorCode::not_found && which.address.empty())
    return DaemonsWord{.denial = told.error().message};
  return tl::unexpected(told.error());
}

Result<DaemonsWord> job_of_daemon(const CommandCall& call, const client::WhichDaemon& which,
                                  const std::string& word) {
  if (which.address.empty() && !client::may_be_job_id(word)) return DaemonsWord();
  const auto daemon = client::daemon_if_any(call.session, which);
  if (!daemon) return tl::unexpected(daemon.error());
  if (!*daemon) return DaemonsWord();
  return ask_about_job(**daemon, which, client::job_path(word), "schedmate.job.v1");
}

std::string not_read(const Document& job) {
  const std::string note = screen::word(job, "note");
  return note.empty() ? "" : ": " + note;
}

Result<int> show_part(const CommandCall& call, const Document& job, const char* part,
                      const std::string& text) {
  const Document& found = schedmate::part(job, part);
  if (found.is_null())
    return fail(
        ErrorCode::invalid,
        fmt::format("the daemon has no {} of job {} (state {}){}; give its {} instead of "
                    "its id",
                    part, screen::word(job, "id"), screen::word(job, "state"), not_read(job),
                    part == std::string_view("advice") ? "folder and --command" : "log"));
  if (call.json)
    call.console.json(found);
  else
    call.console.text(text);
  return 0;
}

}  // namespace schedmate
