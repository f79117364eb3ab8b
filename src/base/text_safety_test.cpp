// SPDX-License-Identifier: Apache-2.0
#include "base/text_safety.hpp"

#include <doctest/doctest.h>

namespace schedmate {

TEST_CASE("bytes that are no UTF-8 become visible and stay distinct") {
  CHECK(clean_utf8("plain, é, 漢, 😀") == "plain, é, 漢, 😀");
  CHECK(clean_utf8("a\xff") == "a\\xff");
  CHECK(clean_utf8("a\xfe") == "a\\xfe");
  CHECK(clean_utf8("\xc0\x80") == "\\xc0\\x80");                    // overlong NUL
  CHECK(clean_utf8("\xe0\x80\x80") == "\\xe0\\x80\\x80");           // overlong in three bytes
  CHECK(clean_utf8("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(clean_utf8("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  CHECK(clean_utf8("\xe6\xbc") == "\\xe6\\xbc");                    // cut short
  CHECK(clean_utf8("\xe6z") == "\\xe6z");
}

TEST_CASE("markup and control characters lose their meaning in HTML") {
  CHECK(html_escape("</script><a b='c' d=\"e\">&") ==
        "&lt;/script&gt;&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
  CHECK(html_escape(std::string_view("a\0b\x1b", 4)) == "a\uFFFDb\uFFFD");
  CHECK(html_escape("tab\tand\nline") == "tab\tand\nline");
}

TEST_CASE("JSON in a script element cannot close it") {
  CHECK(script_safe(R"(["</script>","a&b"])") == R"(["\u003c/script\u003e","a\u0026b"])");
}

TEST_CASE("a CSV cell is quoted only when it must be") {
  CHECK(csv_cell("plain name") == "plain name");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_cell("two\nlines") == "\"two\nlines\"");
  CHECK(csv_cell("").empty());
  CHECK(csv_cell("=cmd|' /C calc'!A0") == "\"'=cmd|' /C calc'!A0\"");
  CHECK(csv_cell("@SUM(1,\"2\")") == "\"'@SUM(1,\"\"2\"\")\"");
  for (const auto* const formula : {"=1", "+1+1", "-2+3", "@a", "\ta", "\ra", "-", "+5"})
    CHECK(csv_cell(formula) == "\"'" + std::string(formula) + "\"");
  for (const auto* const number : {"-5", "-5.25", "17", "-1e3"}) CHECK(csv_cell(number) == number);
}

}  // namespace schedmate
