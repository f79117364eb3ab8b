// SPDX-License-Identifier: Apache-2.0
#include "process/run_tool.hpp"

#include <doctest/doctest.h>

#include "base/input.hpp"
#include "base/text.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::process {
namespace {

using testing::ClusterSite;

Result<std::string> ask(const ClusterSite& site, std::vector<std::string> words,
                        std::chrono::milliseconds deadline = testing::patience) {
  return run_tool(site.session().environment,
                  {.words = std::move(words), .deadline = deadline, .most_bytes = 100'000});
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
  const std::chrono::milliseconds brief(1500);
  CHECK(ask(site, {"hangs"}, brief).error().code == ErrorCode::timeout);
  CHECK(ask(site, {"hangs"}, brief).error().message.contains("within 1.5 s"));
  CHECK(ask(site, {"floods"}).error().code == ErrorCode::bad_reply);
  CHECK(ask(site, {"complains"}, brief).error().code == ErrorCode::timeout);
  CHECK(ask(site, {"killed"}).error().message == "killed: signal 9");
  CHECK(ask(site, {"absent"}).error().code == ErrorCode::not_found);
  CHECK(ask(site, {"text"}).error().code == ErrorCode::not_found);
  CHECK(find_tool(site.session().environment, "../bin/fails").empty());
}

TEST_CASE("what a program leaves behind is ended with it") {
  const ClusterSite site;
  site.tool("leaves", "sleep 600 >/dev/null 2>&1 &\necho $!\n");
  const std::string left(trim(ask(site, {"leaves"}).value()));
  const auto has_ended = [&] {  // though nobody may have waited for it yet
    const auto status = read_file("/proc/" + left + "/status");
    return !status || status->contains("State:\tZ");
  };
  CHECK(testing::soon(has_ended));
}

}  // namespace
}  // namespace schedmate::process
