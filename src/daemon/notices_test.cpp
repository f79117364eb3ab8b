// SPDX-License-Identifier: Apache-2.0
#include "daemon/notices.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::daemon {
namespace {

const ActionCall hung{.kind = ActionKind::notify, .job = "17", .text = "no step", .user = "ann"};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("nobody to tell is said, and refused") {
  CHECK(Notices({}).lack().find("notify.webhook") != std::string::npos);
  CHECK(Notices({}).tell(hung).outcome == CallOutcome::refused);
  CHECK(Notices({.mail_command = "true"}).lack().empty());
}

TEST_CASE("a mail has a head that what it is about cannot add to") {
  const testing::Scratch folder;
  const std::string file = folder.path("mail");
  const Notices notices({.cluster = "venus", .mail_command = "cat >" + file});
  CHECK(notices.tell(hung).outcome == CallOutcome::done);
  CHECK(text_of(file) ==
        "To: ann\nSubject: SchedMate on venus: job 17\nContent-Type: text/plain; charset=utf-8\n\n"
        "no step\n");
  ActionCall call = hung;
  call.user = "ann\nBcc: all";
  call.text = "a\r\n.\r\nb \x1b[31m";
  CHECK(notices.tell(call).outcome == CallOutcome::done);
  const std::string text = text_of(file);
  CHECK(text.find("\nBcc") == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\n.") == std::string::npos);
}

TEST_CASE("what a mail command makes of it is the outcome") {
  const auto told = [](const char* command,
                       std::chrono::milliseconds deadline = testing::patience) {
    return Notices({.mail_command = command, .deadline = deadline}).tell(hung);
  };
  CHECK(told("exit 3").outcome == CallOutcome::refused);
  CHECK(told("exit 3").text.find('3') != std::string::npos);
  CHECK(told("no-such-command").outcome == CallOutcome::refused);
  CHECK(told("kill -9 $$").outcome == CallOutcome::refused);
  CHECK(testing::ends([&] {
    CHECK(told("exec sleep 600", std::chrono::milliseconds(300)).outcome == CallOutcome::unknown);
  }));
}

TEST_CASE("a webhook that nobody answers may have been heard") {
  const auto told = Notices({.webhook = "http://127.0.0.1:1/hook/secret"}).tell(hung);
  CHECK(told.outcome == CallOutcome::unknown);
  CHECK(told.text.find("secret") == std::string::npos);
  CHECK(Notices({.webhook = "ftp://x"}).tell(hung).outcome == CallOutcome::refused);
}

}  // namespace
}  // namespace schedmate::daemon
