// SPDX-License-Identifier: Apache-2.0
/// With modules that stand for Slurm's library (tests/slurm_library); on a real Slurm: tests/live.
#include "slurm_live/library.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "settings/clock.hpp"
#include "slurm_live/cluster.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::ClusterSite;
using testing::need;
using Kind = LibraryAnswer::Kind;
constexpr Connector::Deadline plenty{60'000}, little{400};

const std::string folder = SLURM_LIBRARY_FOLDER;

struct LibrarySite : ClusterSite {
  Tools tools{session().environment, settings::machine_clock(), ""};
  LibrarySite() { feels("well"); }
  /// What goes wrong from now on.
  void feels(const std::string& mood) const { (void)write("mood", mood); }
  [[nodiscard]] Library library(const std::string& module = "well.so") const {
    const std::string here_too = here.path(std::filesystem::path(module).filename());
    std::error_code is_there;
    std::filesystem::create_symlink(folder + module, here_too, is_there);
    return {{here_too, folder + "slurm_library_host"}, tools};
  }
  [[nodiscard]] Tools::Until soon() const { return tools.from_now(little); }
  [[nodiscard]] Tools::Until later() const { return tools.from_now(plenty); }
};

TEST_CASE("the library is asked for what is new") {
  const LibrarySite site;
  Library library = site.library();
  CHECK(need(library.version(site.later())) == "22.05.8");
  const LibraryAnswer jobs = need(library.jobs(true, site.later()));
  CHECK(jobs.kind == Kind::news);
  REQUIRE(jobs.records.size() == 2);
  CHECK(jobs.records[1].text("JobName") == "second");
  CHECK(jobs.records[0].text("AdminComment") == "a \"quote\"\n|\x1f?");  // a byte of no character
  CHECK(need(library.jobs(true, site.later())).kind == Kind::unchanged);
  CHECK(need(library.nodes(site.later())).records.size() == 1);
  CHECK(need(library.nodes(site.later())).kind == Kind::unchanged);
  CHECK(need(library.all_nodes(site.later())).kind == Kind::news);
  CHECK(need(library.nodes(site.later())).kind == Kind::unchanged);
  CHECK(need(library.job(7, true, site.later())).records.size() == 1);
  CHECK(!need(library.job(7, false, site.later())).records[0].has("SiteFactor"));
  CHECK(need(library.job(9, false, site.later())).kind == Kind::none);
  library.begin_anew();
  CHECK(need(library.jobs(true, site.later())).kind == Kind::news);
}

TEST_CASE("a library that hangs is killed by the deadline, and another one goes on") {
  const LibrarySite site;
  Library library = site.library();
  REQUIRE(library.jobs(true, site.later()));
  site.feels("hang");
  const auto late = library.jobs(true, site.soon());
  REQUIRE(!late);
  CHECK(late.error().code == ErrorCode::timeout);
  CHECK(!library.is_broken());
  site.feels("well");
  CHECK(need(library.jobs(true, site.later())).kind == Kind::unchanged);
}

TEST_CASE("what the controller says is no fault of the library") {
  const LibrarySite site;
  Library library = site.library();
  REQUIRE(library.version(site.later()));
  site.feels("down");
  const auto said = library.jobs(true, site.later());
  REQUIRE(!said);
  CHECK(said.error().code == ErrorCode::unavailable);
  CHECK(said.error().message.contains("Unable to contact slurm controller"));
  CHECK(!library.is_broken());
}

TEST_CASE("a library that fails is told with its words, and left alone for longer each time") {
  const LibrarySite site;
  struct Row {
    const char* mood;
    const char* says;
  };
  for (const auto& [mood, says] :
       {Row{"crash", "crashed (signal 11)"}, Row{"fatal", "a configuration source"},
        Row{"garble", "cannot be read"}, Row{"cut", "ended without an answer"},
        Row{"huge", "its answer is none"}}) {
    CAPTURE(mood);
    site.feels("well");
    Library library = site.library();
    REQUIRE(library.nodes(site.later()));
    site.feels(mood);
    const auto failed = library.jobs(true, site.later());
    REQUIRE(!failed);
    CHECK(failed.error().message.contains(says));
    CHECK(failed.error().code == ErrorCode::unavailable);
    CHECK(library.is_broken());
    CHECK(!library.jobs(true, site.later()));  // it fails at once again
    site.feels("well");
    CHECK(!library.jobs(true, site.later()));  // left out
    CHECK(library.is_broken());
    CHECK(library.jobs(true, site.later()));
    CHECK(!library.is_broken());
  }
}

TEST_CASE("a module that is none") {
  const LibrarySite site;
  const auto why = [&](const std::string& module) {
    Library library = site.library(module);
    const auto version = library.version(site.later());
    REQUIRE(!version);
    CHECK(library.is_broken());
    return version.error().message;
  };
  CHECK(why("absent.so").contains("cannot open shared object file"));
  CHECK(why("../slurm_library/slurm_library_host").size() > 10);
  CHECK(why("other_interface.so").contains("of another version of SchedMate"));
  Library library({folder + "well.so", "/bin/false"}, site.tools);
  CHECK(!library.version(site.later()));
  Library nowhere({folder + "well.so", "/nowhere"}, site.tools);
  CHECK(!nowhere.version(site.later()));
}

const std::string recordings_of_library = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/live_22_05/";

struct LibraryCluster : LibrarySite {
  CommandLine cluster{tools, "root"};
  LibraryCluster() {
    tool("squeue", "cat " + recordings_of_library + "squeue.json\n");
    tool("sprio", "cat " + recordings_of_library + "sprio.txt\n");
    tool("sinfo", "cat " + recordings_of_library + "sinfo.json\n");
    tool("scontrol",
         std::string(no_reservations) + "cat " + recordings_of_library + "config.txt\n");
    need(cluster.abilities(plenty));
  }
  Result<void> read_by(const std::string& module, bool stands_in) {
    return cluster.read_by(std::make_unique<Library>(library(module)), stands_in, plenty);
  }
};

TEST_CASE("a cluster is read by its library, and unchanged readings have one version") {
  LibraryCluster site;
  REQUIRE(site.read_by("well.so", false));
  const Listing first = need(site.cluster.list(SimTime::min(), plenty));
  REQUIRE(first.jobs.size() == 2);
  CHECK(first.jobs[0].user == "ann");
  CHECK(first.jobs[0].gpus == 2);
  CHECK(first.jobs[0].order == 70);
  REQUIRE(first.nodes.size() == 1);
  CHECK(first.nodes[0].state == NodeState::drained);
  CHECK(first.nodes[0].partition == "gpu");
  CHECK(first.nodes[0].gpus == 8);
  for (int i = 0; i < 3; ++i) {
    const Listing again = need(site.cluster.list(SimTime::min(), plenty));
    CHECK(again.version == first.version);
    CHECK(again.jobs == first.jobs);
    CHECK(again.nodes == first.nodes);
  }
  CHECK(need(site.cluster.job("7", plenty))->name == "first");
  CHECK(!need(site.cluster.job("9", plenty)));
  CHECK(!need(site.cluster.job("nobody's", plenty)));
}

TEST_CASE("a library of another release than the controller is not taken") {
  LibraryCluster site;
  const auto refused = site.read_by("other_release.so", true);
  REQUIRE(!refused);
  CHECK(refused.error().message == "Slurm's library is 23.02.1, and the controller 22.05.8");
  CHECK(need(site.cluster.list(SimTime::min(), plenty)).jobs.size() == 11);
}

TEST_CASE("where the library itself fails, the programs stand in, where they may") {
  LibraryCluster site;
  SUBCASE("they may") {
    REQUIRE(site.read_by("well.so", true));
    const Listing first = need(site.cluster.list(SimTime::min(), plenty));
    site.feels("crash");
    const Listing printed = need(site.cluster.list(SimTime::min(), plenty));
    CHECK(printed.jobs.size() == 11);
    CHECK(printed.version > first.version);
    CHECK(need(site.cluster.job("4", plenty))->mark == "schedmate:main.ab12/7");
    site.feels("well");
    std::size_t jobs = 0;
    for (int i = 0; i < 12; ++i) jobs = need(site.cluster.list(SimTime::min(), plenty)).jobs.size();
    CHECK(jobs == 2);  // it is asked again, for all there is
  }
  SUBCASE("they may not") {
    REQUIRE(site.read_by("well.so", false));
    site.feels("crash");
    for (int i = 0; i < 3; ++i) CHECK(!site.cluster.list(SimTime::min(), plenty));
    CHECK(!site.cluster.job("7", plenty));
  }
  SUBCASE("not for a controller that does not answer") {
    REQUIRE(site.read_by("well.so", true));
    site.feels("down");
    CHECK(!site.cluster.list(SimTime::min(), plenty));
    site.feels("hang");
    CHECK(!site.cluster.list(SimTime::min(), little));
  }
}

}  // namespace
}  // namespace schedmate::slurm_live
