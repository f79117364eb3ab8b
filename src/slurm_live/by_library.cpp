// SPDX-License-Identifier: Apache-2.0

/// How jobs and nodes are read where Slurm's library is there, and when its programs stand in.

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "slurm_live/cluster.hpp"

namespace schedmate::slurm_live {
namespace {

using Kind = LibraryAnswer::Kind;

/// "22.05" of "22.05.8".
std::string_view release_of(std::string_view version) {
  const std::size_t year = version.find('.');
  return version.substr(0, version.find('.', std::min(year, version.size() - 1) + 1));
}

/// Slurm's number of a job, or that of the array whose task it is.
std::optional<std::uint32_t> number_of(const std::string& id) {
  return parse_number<std::uint32_t>(std::string_view(id).substr(0, id.find('_')));
}

}  // namespace

Result<void> CommandLine::read_by(std::unique_ptr<Library> library, bool stands_in,
                                  Deadline within) {
  const auto version = library->version(tools_.from_now(within));
  if (!version) return tl::unexpected(version.error());
  if (version->empty() || release_of(*version) != release_of(site_->version))
    return fail(ErrorCode::unsupported, fmt::format("Slurm's library is {}, and the controller {}",
                                                    *version, site_->version));
  library_ = std::move(library);
  stands_in_ = stands_in;
  return {};
}

bool CommandLine::has_failed(const Result<LibraryAnswer>& answer) const {
  const bool failed = !answer && stands_in_ && library_->is_broken();
  if (failed) library_->begin_anew();  // the programs may show more than it has
  return failed;
}

Result<std::optional<std::vector<Row>>> CommandLine::fresh_jobs(Until until) const {
  using Rows = std::optional<std::vector<Row>>;
  if (library_ != nullptr) {
    const auto answer = library_->jobs(site_->has_factors, until);
    if (answer && answer->kind == Kind::unchanged) return Rows();
    if (answer) {
      auto rows = rows_of(answer->records, kept_, tools_.wall());
      if (rows) add_tokens(*rows);
      if (!rows) library_->begin_anew();
      return std::move(rows).map([](std::vector<Row>&& made) { return Rows(std::move(made)); });
    }
    if (!has_failed(answer)) return unread(answer.error());
  }
  return read_jobs(until).map([](std::vector<Row>&& made) { return Rows(std::move(made)); });
}

Result<std::optional<std::vector<SeenNode>>> CommandLine::fresh_nodes(Until until) const {
  using Nodes = std::optional<std::vector<SeenNode>>;
  const auto whole = [](std::vector<SeenNode>&& made) { return Nodes(std::move(made)); };
  if (library_ != nullptr) {
    const auto answer = library_->nodes(until);
    if (answer && answer->kind == Kind::unchanged) return Nodes();
    if (answer) {
      auto nodes = nodes_of(answer->records);
      if (!nodes) library_->begin_anew();
      return std::move(nodes).map(whole);
    }
    if (!has_failed(answer)) return unread(answer.error());
  }
  return print_nodes(until).map(whole);
}

Result<std::vector<Row>> CommandLine::read_job(const std::string& id, Until until) const {
  if (library_ == nullptr) return read_jobs(until);
  const auto number = number_of(id);
  if (!number) return std::vector<Row>();
  const auto answer = library_->job(*number, site_->has_factors, until);
  if (answer) {
    auto rows = rows_of(answer->records, kept_, tools_.wall());
    if (rows) add_tokens(*rows);
    return rows;
  }
  if (!has_failed(answer)) return unread(answer.error());
  return read_jobs(until);
}

Result<std::vector<SeenNode>> CommandLine::list_nodes(Until until) const {
  if (library_ == nullptr) return print_nodes(until);
  const auto answer = library_->all_nodes(until);
  if (answer) return nodes_of(answer->records);
  if (!has_failed(answer)) return unread(answer.error());
  return print_nodes(until);
}

}  // namespace schedmate::slurm_live
