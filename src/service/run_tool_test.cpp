// SPDX-License-Identifier: Apache-2.0
#include "service/run_tool.hpp"

#include <doctest/doctest.h>

#include "tests/support/cluster_site.hpp"

namespace schedmate::service {
namespace {

using testing::ClusterSite;

Result<std::string> ask(const ClusterSite& site, std::vector<std::string> words) {
  return run_tool(site.session().environment, {.words = std::move(words),
                                               .deadline = std::chrono::milliseconds(1500),
                                               .most_bytes = 100'000});
}

TEST_CASE("a program is started with its words as they are, in UTC, without a shell") {
  const ClusterSite site;
  site.tool("sacct", "echo \"$1|$2|$TZ|$SACCT_FORMAT|$HOME\"; cat\n");
  CHECK(ask(site, {"sacct", "a b", "; rm $HOME"}).value() == "a b|; rm $HOME|UTC||\n");
}

TEST_CASE("what fails, hangs, floods or is absent is an error that says so") {
  const ClusterSite site;
  site.tool("fails", "echo 'fails: error: \033[31mno database' >&2; echo more >&2; exit 3\n");
  site.tool("hangs", "sleep 60 & sleep 60\n");
  site.tool("floods", "yes\n");
  site.tool("complains", "yes complaint >&2\n");
  site.tool("killed", "kill -9 $$\n");
  (void)site.write("bin/text", "no program");
  CHECK(ask(site, {"fails"}).error().message == "fails: error: ?[31mno database (exit code 3)");
  CHECK(ask(site, {"hangs"}).error().code == ErrorCode::timeout);
  CHECK(ask(site, {"hangs"}).error().message.contains("within 1.5 s"));
  CHECK(ask(site, {"floods"}).error().code == ErrorCode::bad_reply);
  CHECK(ask(site, {"complains"}).error().code == ErrorCode::timeout);
  CHECK(ask(site, {"killed"}).error().message == "killed: signal 9");
  CHECK(ask(site, {"absent"}).error().code == ErrorCode::not_found);
  CHECK(ask(site, {"text"}).error().code == ErrorCode::not_found);
  CHECK(find_tool(site.session().environment, "../bin/fails").empty());
}

TEST_CASE("what a program leaves behind is ended with it") {
  const ClusterSite site;
  const std::string mark = site.here.path("alive");
  site.tool("leaves", "(sleep 1; touch '" + mark + "') >/dev/null 2>&1 &\necho done\n");
  CHECK(ask(site, {"leaves"}).value() == "done\n");
  site.tool("waits", "sleep 1.3; echo over\n");
  CHECK(ask(site, {"waits"}).value() == "over\n");
  CHECK_FALSE(std::filesystem::exists(mark));
}

}  // namespace
}  // namespace schedmate::service
