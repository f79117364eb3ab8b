// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A machine with a state folder, a clock that stands still, and scripts instead of Slurm's
/// programs, for tests of use cases.

#include <filesystem>
#include <fstream>
#include <string>

#include "settings/session.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

struct ClusterSite {
  /// How a scontrol begins that knows of none.
  static constexpr const char* no_reservations =
      "if [ \"$1$2\" = showreservation ]; then exec echo No reservations in the system; fi\n";

  Scratch here;
  std::int64_t wall_s = 1'800'000'000;

  ClusterSite() {
    std::filesystem::create_directory(here.path("bin"));
    std::filesystem::create_directory(here.path("work"));
  }
  [[nodiscard]] settings::Session session() const {
    settings::Session made;
    made.environment.state_home = here.path("state");
    made.environment.variable = [bin = here.path("bin")](std::string_view name) {
      return name == "PATH" ? bin + ":relative:/usr/bin:/bin" : std::string();
    };
    made.clock.wall = [this] { return at(wall_s); };
    made.clock.now = [] { return std::chrono::nanoseconds(0); };
    made.clock.sleep = [](std::chrono::nanoseconds) {};
    made.clock.cpu = [] { return std::chrono::nanoseconds(0); };
    return made;
  }
  [[nodiscard]] std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(here.path(name), std::ios::binary) << text;
    return here.path(name);
  }
  /// A program that shadows an installed one.
  void tool(const std::string& name, std::string_view script) const {
    const std::string path = write("bin/" + name, std::string("#!/bin/sh\n").append(script));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  /// One that prints this text.
  void prints(const std::string& name, std::string_view text) const {
    const std::string path = write(name + ".txt", text);
    tool(name, "exec cat '" + path + "'\n");
  }
  /// As on a machine without Slurm, whatever this one has.
  void no_slurm() const {
    tool("sacct", "echo 'sacct: error: no cluster here' >&2; exit 1\n");
    tool("scontrol", "echo 'slurm_load_jobs error: no cluster here' >&2; exit 1\n");
  }
};

}  // namespace schedmate::testing
