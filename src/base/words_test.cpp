// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/document.hpp"
#include "base/json.hpp"
#include "base/known_digits.hpp"

namespace schedmate {
namespace {

std::string words(std::int64_t s) { return in_words(Seconds(s)); }
std::string words(double s) { return in_words(FractionalSeconds(s)); }

/// One of each class that must not reach a terminal as it is.
constexpr std::string_view evil =
    "\033]52;c;aGk=\007|\x7f|\xc2\x9b|\xe2\x80\xa8|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\x8f|"
    "\xd8\x9c|\xef\xbb\xbf|\xe2\x80\x8b|\xef\xb7\x90|\xf3\xa0\x81\x81|\xff|\r";

}  // namespace

TEST_CASE("a length of time in words") {
  CHECK(words(std::int64_t{0}) == "0 s");
  CHECK(words(std::int64_t{119}) == "119 s");
  CHECK(words(std::int64_t{125}) == "2 min 5 s");
  CHECK(words(std::int64_t{300}) == "5 min");
  CHECK(words(std::int64_t{2590}) == "43 min");
  CHECK(words(std::int64_t{3599}) == "1 h");
  CHECK(words(std::int64_t{7980}) == "2 h 13 min");
  CHECK(words(std::int64_t{86'369}) == "23 h 59 min");
  CHECK(words(std::int64_t{86'400}) == "1.0 d");
  CHECK(words(std::int64_t{120'960}) == "1.4 d");
  CHECK(words(std::int64_t{-7980}) == "-2 h 13 min");
  CHECK(words(0.4213) == "0.42 s");
  CHECK(words(0.0123) == "12 ms");
  CHECK(words(12.7) == "13 s");
  CHECK(words(7980.4) == "2 h 13 min");
  CHECK(words(std::numeric_limits<double>::infinity()) == "unknown");
  CHECK(words(1e300) == "unknown");
}

TEST_CASE("an amount of memory in words") {
  CHECK(bytes_in_words(0) == "0 B");
  CHECK(bytes_in_words(512) == "512 B");
  CHECK(bytes_in_words(1024) == "1 KiB");
  CHECK(bytes_in_words(1.5 * 1024 * 1024) == "1.5 MiB");
  CHECK(bytes_in_words(40.0 * 1024 * 1024 * 1024) == "40 GiB");
  CHECK(bytes_in_words(1023.99 * 1024) == "1.0 MiB");
  CHECK(bytes_in_words(-2048) == "-2 KiB");
}

TEST_CASE("energy in words") {
  CHECK(energy_in_words(0) == "0 J");
  CHECK(energy_in_words(3599) == "3599 J");
  CHECK(energy_in_words(3600) == "1.00 Wh");
  CHECK(energy_in_words(44'280) == "12.3 Wh");
  CHECK(energy_in_words(3'600'000) == "1.00 kWh");
  CHECK(energy_in_words(3.6e6 * 999.7) == "1.00 MWh");
  CHECK(energy_in_words(1e15) == "278 GWh");
  CHECK(energy_in_words(std::nan("")) == "unknown");
}

TEST_CASE("an estimate has the digits that are known") {
  CHECK(as_known(1.0 / 3, 3) == 0.333);
  CHECK(as_known(12345.678901, 6) == 12345.7);
  CHECK(as_known(0) == 0);
}

TEST_CASE("what commands a terminal is not printed, and a document escapes it") {
  CHECK(printable(evil) == "?]52;c;aGk=?|?|?|?|?|?|?|?|?|?|?|?|?|?");
  CHECK(printable("a\nb") == "a?b");
  CHECK(!is_printable(evil));
  CHECK(!is_printable("a\nb"));
  CHECK(!is_printable("a\xff"));
  CHECK(is_printable(""));
  CHECK(for_terminal("a\n\tb\033[31m", true) == "a\n\tb?[31m");
  CHECK(printable("caf\xc3\xa9 \xe2\x80\x8d \xf0\x9f\x98\x80") ==
        "caf\xc3\xa9 \xe2\x80\x8d \xf0\x9f\x98\x80");
  CHECK(is_printable("caf\xc3\xa9 \xe2\x80\x8d \xf0\x9f\x98\x80"));
  const std::string valid(evil.substr(0, evil.find('\xff')));
  const Document document = {{valid, valid}};
  for (const std::string& text : {in_one_line(document), indented(document)}) {
    CHECK(for_terminal(text, true) == text);
    const auto back = nlohmann::json::parse(text, nullptr, false);
    REQUIRE(back.is_object());
    CHECK(back.begin().key() == valid);
    CHECK(back.begin().value() == valid);
  }
}

TEST_CASE("a style is a colour at the edge, takes no room, and cannot be forged by a name") {
  const std::string bad = styled(Style::red, "bad");
  CHECK(for_terminal(bad, true) == "\033[31mbad\033[0m");
  CHECK(for_terminal(bad, false) == "bad");
  CHECK(width_of_cell(bad) == 3);
  CHECK(styled(Style::plain, "bad") == "bad");
  CHECK(for_terminal(printable(bad), true) == "?bad?");
}

TEST_CASE("a document shortens what was computed to what is known, and nothing else") {
  Document document = {{"hours", {3.333333333333333, 0.1 + 0.2, 1e-9 / 3}},
                       {"at", 1760000000.25},
                       {"count", 123456789},
                       {"text", "0.123456789"},
                       {"none", nullptr}};
  shorten_numbers(document);
  CHECK(in_one_line(document) ==
        R"({"hours":[3.33333,0.3,3.33333e-10],"at":1760000000.0,"count":123456789,)"
        R"("text":"0.123456789","none":null})");
}

}  // namespace schedmate
