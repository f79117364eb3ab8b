// SPDX-License-Identifier: Apache-2.0
#include "service/cluster_queue.hpp"

#include <fmt/format.h>

#include "base/input.hpp"
#include "service/file_access.hpp"
#include "service/held_input.hpp"

namespace schedmate::service {

Result<slurm::ClusterQueue> read_cluster_queue(const settings::Session& session,
                                               const std::string& from) {
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  const auto held = HeldInput::open(from);
  if (!held) return tl::unexpected(held.error());
  constexpr std::uint64_t most = std::uint64_t{1} << 30U;
  const auto text = read_file({held->path(), files->access}, most);
  if (!text) return fail(text.error().code, held->named(text.error().message));
  auto queue = slurm::read_queue(*text);
  if (!queue) return fail(queue.error().code, fmt::format("{}: {}", from, queue.error().message));
  if (!held->note().empty()) queue->notes.push_back(held->note());
  return queue;
}

}  // namespace schedmate::service
