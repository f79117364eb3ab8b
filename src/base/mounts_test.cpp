// SPDX-License-Identifier: Apache-2.0
#include "base/mounts.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/job_folder.hpp"

namespace schedmate {
namespace {

std::string row(const std::string& folder, const std::string& kind) {
  return fmt::format("36 35 98:0 /sub {} rw,noatime master:1 - {} /dev/x rw\n", folder, kind);
}

}  // namespace

TEST_CASE("what lies on a share may hang, and is not looked at") {
  const testing::JobFolder here;
  here.folder("disk/inner");
  here.folder("share");
  const std::string table = row("/", "ext4") + row(here.path("share"), "nfs4");
  CHECK_FALSE(may_hang(here.path("disk/inner"), table));
  CHECK_FALSE(may_hang(here.path("absent/state"), table));
  CHECK(may_hang(here.path("share"), table));
  CHECK(may_hang(here.path("share/a/b"), table));
  CHECK_FALSE(may_hang(here.path("shared"), table));
  CHECK_FALSE(may_hang(here.path("share"), table + row(here.path("share"), "tmpfs")));
  CHECK(may_hang(here.path("share"), row("/", "fuse.x")));
  CHECK(may_hang(here.path("disk"), ""));
  // In a chroot the root need not be a mount; this program comes from there.
  CHECK_FALSE(may_hang(here.path("disk"), row("/proc", "proc")));
  CHECK(may_hang(here.path("share"), row(here.path("share"), "nfs")));
}

TEST_CASE("links and .. lead to shares, too") {
  const testing::JobFolder here;
  here.folder("disk/inner");
  here.folder("a share");
  here.link(here.path("a share"), "absolute");
  here.link("../a share", "disk/relative");
  here.link("circle", "circle");
  std::string name = here.path("a share");
  name.replace(name.find(' '), 1, "\\040");
  const std::string table = row("/", "xfs") + row(name, "lustre");
  CHECK(may_hang(here.path("absolute/state"), table));
  CHECK(may_hang(here.path("disk/relative"), table));
  CHECK(may_hang(here.path("disk/inner/../../a share/x"), table));
  CHECK(may_hang(here.path("disk//./relative/.."), table));
  CHECK_FALSE(may_hang(here.path("disk/inner/.."), table));
  CHECK_FALSE(may_hang(here.path("circle/x"), table));
  CHECK_FALSE(may_hang("/../../", table));
}

TEST_CASE("this machine's own table is read") { CHECK_FALSE(may_hang("/proc/self")); }

}  // namespace schedmate
