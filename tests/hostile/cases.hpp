// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A hostile tree: how it is made, and what asking for some paths gives. What holds for all of them
/// (nothing from outside is ever seen, bounded time, the walk without openat2 agrees) is checked by
/// hostile_test.cpp and not said in each.

#include <sys/stat.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/job_folder.hpp"
#include "tree/tree.hpp"

namespace schedmate::hostile {

/// Stands in each file that lies outside the job's folder, and in each secret.
inline constexpr std::string_view forbidden_text = "never-to-be-seen-3f81";

struct World {
  testing::JobFolder all;
  std::string root = all.folder("job");
  World() { all.write("outside/other.py", forbidden_text); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// A folder without rights could not be removed.
  ~World() { ::chmod(path("a").c_str(), 0700); }

  [[nodiscard]] std::string job(const std::string& name) const { return "job/" + name; }
  std::string write(const std::string& name, std::string_view text) const {
    return all.write(job(name), text);
  }
  std::string folder(const std::string& name) const { return all.folder(job(name)); }
  void link(const std::string& target, const std::string& name) const {
    all.link(target, job(name));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return all.path(job(name)); }
  [[nodiscard]] std::string outside(const std::string& name = "other.py") const {
    return all.path("outside/" + name);
  }
};

enum class Gives : unsigned char { text, refused, not_found, invalid };

/// `part` is the whole text of a file that is read, and a part of the message otherwise. In `path`
/// and `part`, "{root}" stands for the job's folder.
struct Expectation {
  std::string path;
  Gives gives = Gives::text;
  std::string part;
};

struct Case {
  std::string name;
  std::function<void(const World&)> make;
  std::vector<Expectation> expected;
  tree::TreeLimits limits = {};
  enum class Needs : unsigned char { nobody, root, no_root } needs = Needs::nobody;
};
using Cases = std::vector<Case>;

Cases link_cases();
Cases system_link_cases();
Cases chain_cases();
Cases folder_link_cases();
Cases path_cases();
Cases kind_cases();
Cases size_cases();
Cases crowd_cases();
Cases name_cases();
Cases encoding_cases();
Cases secret_cases();
Cases ignore_cases();
Cases broken_rule_cases();

}  // namespace schedmate::hostile
