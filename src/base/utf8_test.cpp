// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <doctest/doctest.h>

namespace schedmate {
namespace {

TEST_CASE("a code point takes one to four bytes") {
  std::string text;
  for (const std::uint32_t code : {0x41U, 0x7fU, 0x80U, 0xe9U, 0x7ffU, 0x800U, 0x2588U, 0x1f600U})
    append_utf8(text, code);
  CHECK(text == "A\x7f\xc2\x80\xc3\xa9\xdf\xbf\xe0\xa0\x80\xe2\x96\x88\xf0\x9f\x98\x80");
}

TEST_CASE("the length of a character, 0 for what is none") {
  CHECK(utf8_length("A", 0) == 1);
  CHECK(utf8_length("\xe2\x96\x88", 0) == 3);
  CHECK(utf8_length("\xf0\x9f\x98\x80", 0) == 4);
  for (const char* none :
       {"\x80", "\xc3", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    CHECK(utf8_length(none, 0) == 0);
}

}  // namespace
}  // namespace schedmate
