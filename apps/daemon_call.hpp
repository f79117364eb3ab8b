// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the commands that ask a daemon have in common.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "base/document.hpp"
#include "client/which_daemon.hpp"
#include "screen/screen.hpp"

namespace schedmate {

/// --address, --token-file.
void add_daemon(CLI::App& command, client::WhichDaemon& which);

/// The same of a command that works without a daemon, too.
void add_optional_daemon(CLI::App& command, client::WhichDaemon& which);

/// Prints an answer as it is, or as text.
using ShowDocument =
    std::function<std::string(const Document& document, const screen::ScreenStyle& style)>;
[[nodiscard]] Result<int> show(const CommandCall& call, const Result<Document>& answer,
                               const ShowDocument& text);

/// The cluster's clock; empty where the daemon does not tell.
[[nodiscard]] std::optional<std::int64_t> cluster_now(const client::DaemonClient& daemon);

/// Names and values of a query; those without a value are left out.
using Query = std::vector<std::pair<std::string_view, std::string>>;
/// "?state=running&user=ann", or "".
[[nodiscard]] std::string query_of(const Query& query);

/// A list that is given in pages.
struct PagedList {
  std::string path;  ///< "/api/v1/jobs"
  Query query;
  std::string_view schema;  ///< of a page
  const char* key;          ///< of the list in it
  std::size_t enough = 0;   ///< one more than so many are asked for; 0: all
};
/// The documents of its pages, at most half a million. Errors: as client::ask().
[[nodiscard]] Result<std::vector<Document>> all_pages(const client::DaemonClient& daemon,
                                                      const PagedList& list);

/// What a daemon answers for a command that also looks elsewhere.
struct DaemonsWord {
  std::shared_ptr<const Document> document{};
  std::string denial{};  ///< it was asked, and says this: it knows no such job
};
/// The error of looking elsewhere, behind what the daemon said first.
[[nodiscard]] Error behind(const DaemonsWord& word, Error error);
/// A document about a job: none where it does not know that and no --address insists on it.
[[nodiscard]] Result<DaemonsWord> ask_about_job(const client::DaemonClient& daemon,
                                                const client::WhichDaemon& which,
                                                const std::string& path, std::string_view schema);
/// What it knows of a job: none where no daemon is asked, either (`word` is a file's name, or none
/// runs).
[[nodiscard]] Result<DaemonsWord> job_of_daemon(const CommandCall& call,
                                                const client::WhichDaemon& which,
                                                const std::string& word);

/// ": why", where the daemon could not read what a job's document lacks; else "".
[[nodiscard]] std::string not_read(const Document& job);
/// Prints `part` of a job's document, or its text. Errors: invalid where the daemon has none of it.
[[nodiscard]] Result<int> show_part(const CommandCall& call, const Document& job, const char* part,
                                    const std::string& text);

}  // namespace schedmate
