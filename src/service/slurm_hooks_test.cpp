// SPDX-License-Identifier: Apache-2.0
#include "service/slurm_hooks.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/cluster_site.hpp"

namespace schedmate::service {
namespace {

namespace fs = std::filesystem;
using testing::ClusterSite;

const std::string site_script = "function slurm_job_submit() return 7 end\n";

/// A folder with a slurm.conf whose Slurm has the Lua plug-in.
struct HookSite {
  ClusterSite site;
  std::string folder = site.here.path("slurm"), conf = folder + "/slurm.conf";
  std::string lua = folder + "/job_submit.lua", kept = folder + "/job_submit.site.lua";

  explicit HookSite(const std::string& plugins = "") {
    fs::create_directory(folder);
    fs::create_directory(site.here.path("plugins"));
    (void)site.write("plugins/job_submit_lua.so", "");
    put("slurm.conf", "ClusterName=x\nPluginDir=" + site.here.path("plugins") + "\n" + plugins);
  }
  void put(const std::string& name, std::string_view text) const {
    (void)site.write("slurm/" + name, text);
  }
  [[nodiscard]] static std::string text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] settings::Session session() const {
    settings::Session made = site.session();
    CHECK(made.settings.set("listen.look_port", "8643", "test"));
    return made;
  }
  [[nodiscard]] Result<SlurmHooksPlan> plan(bool ends = false) const {
    return plan_install(session(), {.conf = conf, .ends = ends});
  }
  [[nodiscard]] Result<SlurmHooksPlan> removal() const { return plan_uninstall(session(), conf); }
  /// Name -> what it holds, with its rights and where a link leads.
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
      struct stat status{};
      (void)::lstat(entry.path().c_str(), &status);
      all[entry.path().filename().string()] =
          std::to_string(status.st_mode) + " " + std::to_string(status.st_uid) + " " +
          (entry.is_symlink() ? fs::read_symlink(entry.path()).string() : text(entry.path()));
    }
    return all;
  }
};

void do_it(const Result<SlurmHooksPlan>& plan) {
  REQUIRE_MESSAGE(plan, plan.error().message);
  const auto done = carry_out(*plan);
  REQUIRE_MESSAGE(done, done.error().message);
}

std::string why_not(const Result<SlurmHooksPlan>& plan) {
  if (!plan) return plan.error().message;
  const auto done = carry_out(*plan);
  return done ? "it was done" : done.error().message;
}

TEST_CASE("hooks come with their files and go without a trace") {
  const HookSite site;
  CHECK(::chmod(site.conf.c_str(), 0440) == 0);
  const auto before = site.files();
  const auto plan = site.plan(true);
  CHECK(site.files() == before);
  REQUIRE(plan);
  CHECK(plan->difference.contains("\n+JobSubmitPlugins=lua\n"));
  CHECK(plan->next.size() == 2);
  const Document shown = slurm_hooks_document(*plan, false);
  CHECK(shown["written"] == false);
  CHECK(shown["files"].size() == 3);
  if (::geteuid() == 0) {
    do_it(plan);
    struct stat status{};
    CHECK(::stat(site.conf.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0440);
    CHECK(::stat((site.folder + "/schedmate_epilog.sh").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0755);
    CHECK(site.plan(true)->steps.empty());
    CHECK(site.plan(false)->difference.contains("\n-EpilogSlurmctld="));
    do_it(site.removal());
    CHECK(site.files() == before);
    CHECK(site.removal()->steps.empty());
  } else {
    CHECK(why_not(plan).contains("may not be written"));
    CHECK(site.files() == before);
  }
}

TEST_CASE("the site's own script is kept, called where it was in use, and given back") {
  for (const std::string plugins : {"", "JobSubmitPlugins=lua\n", "JobSubmitPlugins=throttle\n"}) {
    CAPTURE(plugins);
    const HookSite site(plugins);
    site.put("job_submit.lua", site_script);
    CHECK(::chmod(site.lua.c_str(), 0600) == 0);
    const auto before = site.files();
    do_it(site.plan());
    CHECK(HookSite::text(site.kept) == site_script);
    CHECK(HookSite::text(site.lua).contains("loadfile(\"" + site.kept + "\")") ==
          plugins.contains("=lua"));
    CHECK(site.plan()->steps.empty());
    do_it(site.removal());
    CHECK(site.files() == before);
  }
}

TEST_CASE("a script that is a link stays one") {
  const HookSite site("JobSubmitPlugins=lua\n");
  (void)site.site.write("common.lua", site_script);
  fs::create_symlink("../common.lua", site.lua);
  const auto before = site.files();
  do_it(site.plan());
  CHECK(fs::is_symlink(site.kept));
  CHECK(!fs::is_symlink(site.lua));
  CHECK(HookSite::text(site.kept) == site_script);
  do_it(site.removal());
  CHECK(site.files() == before);
  CHECK(HookSite::text(site.lua) == site_script);
}

TEST_CASE("slurm.conf behind a link is changed where it is; Slurm's folder is that of the link") {
  const HookSite site;
  fs::create_directory(site.site.here.path("real"));
  fs::rename(site.conf, site.site.here.path("real/conf"));
  fs::create_symlink("../real/conf", site.conf);
  const auto before = site.files();
  do_it(site.plan());
  CHECK(fs::is_symlink(site.conf));
  CHECK(fs::exists(site.lua));
  CHECK(HookSite::text(site.site.here.path("real/conf")).contains("\nJobSubmitPlugins=lua\n"));
  do_it(site.removal());
  CHECK(site.files() == before);
}

TEST_CASE("an installation that ended half-way goes on, or goes back") {
  for (const std::size_t steps : {0U, 1U, 2U}) {
    CAPTURE(steps);
    const HookSite site("JobSubmitPlugins=throttle\n");
    site.put("job_submit.lua", site_script);
    const auto before = site.files();
    const auto half = [&](SlurmHooksPlan plan) {
      REQUIRE(plan.steps.size() == 3);
      plan.steps.resize(steps);
      do_it(plan);
      CHECK(fs::exists(site.lua));
    };
    half(site.plan().value());
    do_it(site.removal());
    CHECK(site.files() == before);
    half(site.plan().value());
    do_it(site.plan());
    CHECK(HookSite::text(site.conf).contains("throttle,lua\n"));
    SlurmHooksPlan back = site.removal().value();
    back.steps.resize(steps == 0 ? 0 : 1);
    do_it(back);
    do_it(site.removal());
    CHECK(site.files() == before);
  }
}

TEST_CASE("what stands in the way is said, and nothing is done") {
  const HookSite site;
  const auto refused = [&](std::string_view why, const auto& ask) {
    const auto before = site.files();
    CHECK_MESSAGE(why_not(ask()).contains(why), why_not(ask()));
    CHECK(site.files() == before);
  };
  const auto install = [&] { return site.plan(true); };
  const auto uninstall = [&] { return site.removal(); };
  fs::remove(site.site.here.path("plugins/job_submit_lua.so"));
  refused("would not start", install);
  (void)site.site.write("plugins/job_submit_lua.so", "");
  site.put("job_submit.site.lua", "x");
  refused("nothing of SchedMate's calls it", install);
  fs::remove(site.kept);
  do_it(site.plan(true));
  site.put("schedmate_epilog.sh", HookSite::text(site.folder + "/schedmate_epilog.sh") + "x\n");
  refused("somebody changed this file", install);
  refused("somebody changed this file", uninstall);
  fs::remove(site.folder + "/schedmate_epilog.sh");
  site.put("job_submit.lua", HookSite::text(site.lua) + "x\n");
  refused("somebody changed this file", uninstall);
  fs::remove(site.lua);
  do_it(site.removal());
  CHECK(site.files().size() == 1);
  fs::create_hard_link(site.conf, site.folder + "/other.conf");
  refused("has a second name", install);
  fs::remove(site.conf);
  refused("no such file", install);
}

TEST_CASE("a script that people put in our place stays, and so does the one before") {
  const HookSite site("JobSubmitPlugins=lua\n");
  site.put("job_submit.lua", site_script);
  do_it(site.plan());
  fs::remove(site.lua);
  site.put("job_submit.lua", "-- newer\n");
  const auto plan = site.removal();
  do_it(plan);
  CHECK(plan->next.back().contains("it is left"));
  CHECK(HookSite::text(site.lua) == "-- newer\n");
  CHECK(HookSite::text(site.kept) == site_script);
}

TEST_CASE("what changes in the moment of writing is not overwritten") {
  const HookSite site;
  const auto plan = site.plan();
  site.put("slurm.conf", HookSite::text(site.conf) + "# newer\n");
  CHECK(why_not(plan).contains("somebody changed it in this moment"));
  CHECK(HookSite::text(site.conf).ends_with("# newer\n"));
}

}  // namespace
}  // namespace schedmate::service
