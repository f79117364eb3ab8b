// SPDX-License-Identifier: Apache-2.0
#include "log/lines/utf16.hpp"

#include <doctest/doctest.h>

namespace schedmate::lines {
namespace {

std::string decoded(std::string_view bytes, bool big_endian, std::size_t piece = 1000) {
  Utf16 reader(big_endian);
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) reader.add(bytes.substr(at, piece), out);
  return out;
}

}  // namespace

TEST_CASE("UTF-16 is recognised by its mark") {
  CHECK(utf16_kind("\xff\xfe"
                   "a") == 1);
  CHECK(utf16_kind("\xfe\xff"
                   "a") == 2);
  CHECK(utf16_kind("ab") == 0);
  CHECK(utf16_kind("") == 0);
}

TEST_CASE("UTF-16 becomes UTF-8 however it is cut into pieces") {
  const std::string_view little(
      "\xff\xfe"
      "a\0\xe9\0\xac\x20\x3d\xd8\x00\xde\n\0",
      14);
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 100U})
    CHECK(decoded(little, false, piece) == "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
  CHECK(decoded(std::string_view("\0a\0b", 4), true) == "ab");
}

TEST_CASE("halves of pairs become replacement characters") {
  CHECK(decoded(std::string_view("\x3d\xd8"
                                 "a\0",
                                 4),
                false) ==
        "\xef\xbf\xbd"
        "a");
  CHECK(decoded(std::string_view("\x00\xde"
                                 "a\0",
                                 4),
                false) ==
        "\xef\xbf\xbd"
        "a");
}

}  // namespace schedmate::lines
