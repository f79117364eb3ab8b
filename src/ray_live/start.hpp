// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How an attempt of a job is put to Ray: a package with the program that runs it on its node, and
/// the body of a submission. Values.

#include <string>
#include <string_view>
#include <vector>

#include "ray_live/answers.hpp"
#include "ray_live/ledger.hpp"

namespace schedmate::ray_live {

/// A node by SchedMate's name for it.
struct KnownNode {
  RayNode ray;
  std::string name;
  std::int32_t gpus = 0;
  std::string pin{};  ///< "id=NODE_ID" or "resource=NAME"; "": Ray cannot be told to take it
};

struct StartOptions {
  std::string pin = "auto";  ///< auto, selector, or a node's resource with {name} in it
  std::string python = "python3";
  /// By which Ray counts GPUs.
  std::string gpu_resource = "GPU";
  /// Folder that all nodes and the daemon share, in which an attempt that ended well leaves an
  /// empty file of its id; "": none.
  std::string ends{};
  bool by_driver = false;  ///< attempts are started by the resident driver (driver.hpp)
};

/// In order of their names; of several with one name the one that is alive, else the last. Nodes
/// without GPUs are left out.
[[nodiscard]] std::vector<KnownNode> name_nodes(const std::vector<RayNode>& nodes,
                                                const std::string& ray_version,
                                                const StartOptions& options);

/// The package of an attempt: its name, which nobody else uses, since Ray forgets a package with
/// the last job that has it.
[[nodiscard]] std::string package_name(const std::string& ray_id);
[[nodiscard]] std::string package_of_launcher();
/// The same for the resident driver: its own program, too.
[[nodiscard]] std::string package_of_driver();

/// The body of POST /api/jobs/ for the present attempt. `nodes`: of entry.where, in its order.
[[nodiscard]] std::string submission_of(const Entry& entry, const std::string& ray_id,
                                        const std::vector<KnownNode>& nodes,
                                        const StartOptions& options);

/// The same for the resident driver, which is told words where Ray is told a command line.
[[nodiscard]] std::string driver_submission_of(const Entry& entry, const std::string& ray_id,
                                               const std::vector<KnownNode>& nodes,
                                               const StartOptions& options);
/// The body of POST /api/jobs/ that begins the driver itself.
[[nodiscard]] std::string submission_of_driver(const std::string& ray_id,
                                               const std::string& instance,
                                               const StartOptions& options);

/// A word of a shell.
[[nodiscard]] std::string shell_word(std::string_view word);

/// What the end of an attempt shows.
enum class AttemptEnd : std::uint8_t {
  never_ran,  ///< Ray could not start it, or too late: nothing of it ran
  ended,      ///< by itself, see EndState and exit codes
  stopped,    ///< by Ray's stop
  lost,       ///< its node or what watched it is gone
};
[[nodiscard]] AttemptEnd end_of(const RayJob& record);

}  // namespace schedmate::ray_live
