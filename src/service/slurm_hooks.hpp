// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate slurm install` and `uninstall`: the hooks of a Slurm, as a plan that is shown first
/// and carried out on demand. Nothing is ever removed or replaced that is not known to be our own.

#include <cstdint>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

struct SlurmHooksRequest {
  std::string conf{};  ///< slurm.conf; "": where Slurm's programs look for it
  bool tag = true;     ///< a tag in the AdminComment of each job, by job_submit/lua
  bool ends = false;   ///< word to the daemon when a job has ended, by EpilogSlurmctld
};

struct FileStep {
  enum class Deed : std::uint8_t {
    write,      ///< whole text, with the rights of who was there before
    keep,       ///< a second name, `other`, for what is there
    give_back,  ///< what `other` is takes its place
    remove,
  };
  Deed deed = Deed::write;
  std::string path{}, other{};
  bool exists = false;  ///< so far
  std::string before{}, after{};
  std::uint32_t mode = 0644;  ///< of a new file
  std::string rights_of{};    ///< the file whose owner a new one has
};

struct SlurmHooksPlan {
  std::string conf;
  std::vector<FileStep> steps{};    ///< in this order, so that no step leaves a Slurm that fails
  std::vector<std::string> next{};  ///< what is left to the operator
  std::string difference{};         ///< `diff -u` of all files; "": there is nothing to do
};

/// Errors: invalid, not_found, refused, conflict: what stands in the way, and how to mend it.
[[nodiscard]] Result<SlurmHooksPlan> plan_install(const settings::Session& session,
                                                  const SlurmHooksRequest& request);
[[nodiscard]] Result<SlurmHooksPlan> plan_uninstall(const settings::Session& session,
                                                    const std::string& conf);

/// Errors: conflict (a file has changed since the plan), unavailable, refused. Calling both again
/// goes on where it ended.
[[nodiscard]] Result<void> carry_out(const SlurmHooksPlan& plan);

/// schedmate.slurm_hooks.v1
[[nodiscard]] Document slurm_hooks_document(const SlurmHooksPlan& plan, bool is_written);

}  // namespace schedmate::service
