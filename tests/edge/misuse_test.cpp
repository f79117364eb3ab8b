// SPDX-License-Identifier: Apache-2.0

/// misuse.txt: the exit code, one line that names the fault, nothing on standard output; and with
/// --json the same as a document.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "tests/edge/edge_world.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

struct Misuse {
  int status = 0;
  std::string says, line;
};

std::vector<Misuse> all_misuse() {
  std::vector<Misuse> all;
  const std::string text = contents(SCHEDMATE_SOURCE_DIR "/tests/edge/misuse.txt");
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t first = line.find(" | ");
    const std::size_t second = line.find(" | ", first + 3);
    REQUIRE(second != std::string_view::npos);
    all.push_back({parse_number<int>(line.substr(0, first)).value_or(-1),
                   std::string(line.substr(first + 3, second - first - 3)),
                   std::string(line.substr(second + 3))});
  }
  return all;
}

void check_one_line(const Ran& ran, const Misuse& wanted) {
  CAPTURE(ran.err);
  CHECK(ran.status == wanted.status);
  CHECK(ran.err.starts_with("schedmate: "));
  CHECK(std::ranges::count(ran.err, '\n') == 1);
  CHECK(ran.err.contains(wanted.says));
}

}  // namespace

TEST_CASE("misuse ends with its exit code and one line") {
  const EdgeWorld here;
  const auto before = here.files(".");
  for (const Misuse& each : all_misuse()) {
    CAPTURE(each.line);
    const Ran ran = here.shell(each.line);
    check_one_line(ran, each);
    CHECK(ran.out.empty());
    CHECK(here.files("out").empty());
  }
}

TEST_CASE("misuse with --json is a document, too") {
  const EdgeWorld here;
  for (const Misuse& each : all_misuse()) {
    CAPTURE(each.line);
    const Ran ran = here.shell(each.line + " --json");
    if (each.line.ends_with("--set")) continue;  // takes --json as its value
    check_one_line(ran, each);
    CAPTURE(ran.out);
    const Json error = Json::parse(ran.out, nullptr, false);
    REQUIRE(error.is_object());
    CHECK(error["schema"] == "schedmate.error.v1");
    CHECK(error["code"].is_string());
    CHECK(error["message"].get<std::string>().contains(each.says));
    CHECK_FALSE(error["mend"].get<std::string>().empty());
  }
}

TEST_CASE("90 kinds of misuse, of every command") {
  const auto all = all_misuse();
  CHECK(all.size() >= 90);
  for (const std::string& command : command_names()) {
    CAPTURE(command);
    const std::string begin = "schedmate " + command;
    CHECK(std::ranges::any_of(all, [&](const Misuse& each) {
      return each.line == begin || each.line.starts_with(begin + " ");
    }));
  }
}

TEST_CASE("history finish: the same end twice is no error, another one is refused") {
  const Scratch here;
  REQUIRE(here.shell("schedmate history add 1 --user ann").status == 0);
  const std::string finish = "schedmate history finish 1 --state completed --duration-s ";
  CHECK(here.shell(finish + "2:00:00").out.contains("1: completed after 2 h"));
  CHECK(here.shell(finish + "7200").status == 0);
  const Ran other = here.shell(finish + "5");
  CHECK(other.status == 3);
  CHECK(other.err ==
        "schedmate: history finish: job '1' has ended already: completed after 2 h; --replace "
        "overwrites that\n");
  CHECK(here.shell("schedmate history show 1").out.contains("\"duration_s\": 7200"));
  CHECK(here.shell(finish + "5 --replace").out.contains("1: completed after 5 s"));
}

TEST_CASE("history ACTION --help shows what the action takes") {
  const Scratch here;
  const Ran finish = here.shell("schedmate history finish --help");
  CHECK(finish.status == 0);
  CHECK(finish.out.contains("--duration-s"));
  CHECK(finish.out.contains("--replace"));
  CHECK_FALSE(finish.out.contains("--limit"));
  CHECK_FALSE(finish.out.contains("--gpu-type"));
  const Ran list = here.shell("schedmate history list --help");
  CHECK(list.out.contains("--limit"));
  CHECK_FALSE(list.out.contains("--duration-s"));
  CHECK(here.shell("schedmate history --help").out.contains("calibration"));
}

TEST_CASE("names with escape sequences command no terminal, in text, errors and JSON") {
  const Scratch here;
  const std::string evil =
      "$(printf 'x\\033]52;c;aGk=\\007\\302\\233\\342\\200\\256\\342\\200\\250y')";
  const std::string id = "schedmate history add \"" + evil + "\" --user \"" + evil + "\"";
  const std::vector<std::string> lines{id,
                                       "schedmate history show \"" + evil + "z\"",
                                       "schedmate history list",
                                       "schedmate track \"" + evil + "\"",
                                       "schedmate list \"" + evil + "\"",
                                       "schedmate \"" + evil + "\"",
                                       "schedmate history list --json",
                                       "schedmate history export",
                                       "schedmate history show \"" + evil + "z\" --json",
                                       "schedmate config --set \"" + evil + "=1\" --json"};
  for (const std::string& line : lines) {
    CAPTURE(line);
    const Ran ran = here.shell(line);
    for (const std::string_view bad :
         {"\033", "\007", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8"}) {
      CHECK_FALSE(ran.out.contains(bad));
      CHECK_FALSE(ran.err.contains(bad));
    }
  }
  const Json list = Json::parse(here.shell("schedmate history list --json").out, nullptr, false);
  CHECK(list.dump().contains("\\u001b]52;c;aGk="));  // the value is the same
}

}  // namespace schedmate
