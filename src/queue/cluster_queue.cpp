// SPDX-License-Identifier: Apache-2.0
#include "queue/cluster_queue.hpp"

#include <fmt/format.h>

#include "base/input.hpp"
#include "base/words.hpp"
#include "process/run_tool.hpp"
#include "service/file_access.hpp"
#include "service/held_input.hpp"

namespace schedmate::queue {
namespace {

constexpr std::string_view this_cluster = "slurm";

Result<std::string> ask(const settings::Session& session, std::vector<std::string> words) {
  constexpr std::size_t most_bytes = std::size_t{1} << 28U;
  return process::run_tool(
      session.environment,
      {.words = std::move(words), .deadline = std::chrono::seconds(10), .most_bytes = most_bytes});
}

/// Where the jobs are asked for. In scontrol's text a job's name that holds line ends may pretend
/// to be records; not every site's squeue can print JSON.
enum class JobsFrom : std::uint8_t { squeue, scontrol };

Result<slurm::ClusterQueue> ask_slurm(const settings::Session& session, JobsFrom jobs) {
  using Words = std::vector<std::string>;
  const Words limits = {"scontrol", "show", "assoc_mgr"};
  std::string text, without;
  // The settings last: they say when it is by the controller's clock, and nothing that the jobs
  // did before is later.
  for (const Words& words :
       {Words{"scontrol", "show", "node", "-d"},
        {"scontrol", "show", "partition"},
        {"scontrol", "show", "reservation"},
        limits,
        jobs == JobsFrom::squeue ? Words{"squeue", "--json", "--all", "--states=all"}
                                 : Words{"scontrol", "show", "job", "-d"},
        {"scontrol", "show", "config"}}) {
    const auto said = ask(session, words);
    if (said)
      text += *said + "\n\n";
    else if (words == limits && said.error().code == ErrorCode::unavailable)
      without = said.error().message;  // not everybody may see them
    else
      return tl::unexpected(said.error());
  }
  auto queue = slurm::read_queue(text);
  if (!queue) return fail(queue.error().code, "what Slurm shows: " + queue.error().message);
  if (!without.empty())
    queue->notes.push_back("limits of QOS and accounts are not known: " + without);
  constexpr Seconds usual{5};
  const Seconds ahead = session.clock.wall() - queue->now;
  if (ahead > usual || ahead < -usual)
    queue->notes.push_back(
        fmt::format("this machine's clock is {} {} that of Slurm's controller, "
                    "by which all times here are",
                    in_words(std::max(ahead, -ahead)), ahead > usual ? "ahead of" : "behind"));
  return queue;
}

Result<slurm::ClusterQueue> ask_slurm(const settings::Session& session) {
  auto queue = ask_slurm(session, JobsFrom::squeue);
  if (queue || queue.error().code == ErrorCode::timeout) return queue;
  const bool is_no_json =
      queue.error().code == ErrorCode::invalid || queue.error().message.starts_with("squeue: ");
  return is_no_json ? ask_slurm(session, JobsFrom::scontrol) : queue;
}

Result<slurm::ClusterQueue> read_recorded(const settings::Session& session,
                                          const std::string& name) {
  const auto files = service::request_files(session);
  if (!files) return tl::unexpected(files.error());
  const auto held = service::HeldInput::open(name);
  if (!held) return tl::unexpected(held.error());
  constexpr std::uint64_t most = std::uint64_t{1} << 30U;
  const auto text = read_file({held->path(), files->access}, most);
  if (!text) return fail(text.error().code, held->named(text.error().message));
  auto queue = slurm::read_queue(*text);
  if (!queue) return fail(queue.error().code, fmt::format("{}: {}", name, queue.error().message));
  if (!held->note().empty()) queue->notes.push_back(held->note());
  if (queue->text_times)
    queue->notes.emplace_back("times without a zone are taken as UTC (record text with TZ=UTC)");
  return queue;
}

}  // namespace

Result<slurm::ClusterQueue> read_cluster_queue(const settings::Session& session,
                                               const std::string& from) {
  if (from.empty() && process::find_tool(session.environment, "scontrol").empty())
    return fail(ErrorCode::unsupported,
                "--from WHERE is missing, and there is no scontrol in PATH: WHERE is slurm (where "
                "it is), FILE with what scontrol, squeue and sinfo printed, or trace:FORMAT:PATH");
  if (!from.empty() && from != this_cluster) return read_recorded(session, from);
  auto queue = ask_slurm(session);
  // A job may end between the answers; twice in a row, it is something else, and noted.
  if (queue && queue->moved) return ask_slurm(session);
  return queue;
}

}  // namespace schedmate::queue
