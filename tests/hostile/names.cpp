// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/cases.hpp"

namespace schedmate::hostile {
namespace {

std::function<void(const World&)> written(const std::string& name, const std::string& text) {
  return [=](const World& world) { world.write(name, text); };
}

Case text_case(std::string name, const std::string& bytes, std::string text) {
  return {std::move(name), written("x.py", bytes), {{"x.py", Gives::text, std::move(text)}}};
}

Case binary_case(std::string name, const std::string& bytes) {
  const std::string says = "binary, " + std::to_string(bytes.size()) + " bytes";
  return {std::move(name), written("x.py", bytes), {{"x.py", Gives::invalid, says}}};
}

/// Two bytes for each letter.
std::string wide(std::string_view text, bool big_end) {
  std::string out;
  for (const char c : text) out += big_end ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

}  // namespace

Cases name_cases() {
  constexpr const char* odd = "not plain text";
  return {
      {"name with a line end", written("a\nb.py", "x\n"), {{"a\nb.py", Gives::invalid, odd}}},
      {"name with terminal codes",
       written("\x1b[2Ja.py", "x\n"),
       {{"\x1b[2Ja.py", Gives::invalid, odd}}},
      {"name that is no UTF-8",
       written("caf\xe9.py", "x\n"),
       {{"caf\xe9.py", Gives::invalid, odd}}},
      {"names of dots", written("..a/.../x..py", "x\n"), {{"..a/.../x..py", Gives::text, "x\n"}}},
      {"names with spaces, signs and other scripts",
       written("a b/+x=1/\u00fc\u4f60 \U0001F600.py", "x\n"),
       {{"a b/+x=1/\u00fc\u4f60 \U0001F600.py", Gives::text, "x\n"}}},
      {"name that looks like a flag", written("-rf", "x\n"), {{"-rf", Gives::text, "x\n"}}},
      {"name with shell signs",
       written("$(touch x);`y`", "x\n"),
       {{"$(touch x);`y`", Gives::text, "x\n"}}},
      {"longest name",
       written(std::string(255, 'n'), "x\n"),
       {{std::string(255, 'n'), Gives::text, "x\n"},
        {std::string(256, 'n'), Gives::not_found, ""}}},
      {"text for coding agents",
       [](const World& world) {
         world.write("AGENTS.md", forbidden_text);
         world.link("AGENTS.md", "CLAUDE.md");
         world.link("AGENTS.md", "notes.md");
         world.write(".cursor/rules.md", forbidden_text);
       },
       {{"AGENTS.md", Gives::refused, "coding agents"},
        {"CLAUDE.md", Gives::refused, "coding agents"},
        {"notes.md", Gives::refused, "coding agents"},
        {".cursor/rules.md", Gives::refused, "coding agents"}}},
  };
}

Cases encoding_cases() {
  const std::string code = "x = 1  # a long enough line of text\n";
  return {
      text_case("UTF-8 with a mark", "\xEF\xBB\xBF" + code, code),
      text_case("UTF-16, low byte first", "\xFF\xFE" + wide(code, false), code),
      text_case("UTF-16, high byte first", "\xFE\xFF" + wide(code, true), code),
      text_case("UTF-16 without a mark, low byte first", wide(code, false), code),
      text_case("UTF-16 without a mark, high byte first", wide(code, true), code),
      text_case("UTF-16 with two units for one letter", std::string("\xFF\xFE\x3D\xD8\x00\xDE", 6),
                "\U0001F600"),
      binary_case("UTF-16 with half a letter", std::string("\xFF\xFE\x3D\xD8x\0", 6)),
      binary_case("UTF-16 of an odd length", "\xFF\xFE" + wide(code, false) + "x"),
      text_case("Latin-1", "# caf\xE9 na\xEFve\n", "# caf\u00e9 na\u00efve\n"),
      text_case("UTF-8 with one broken letter", "# caf\u00e9 \xE9\n", "# caf\u00e9 \u00e9\n"),
      text_case("overlong UTF-8", "\xC0\xAE\xC0\xAE/", "\u00c0\u00ae\u00c0\u00ae/"),
      text_case("UTF-8 cut off", "caf\xC3", "caf\u00c3"),
      binary_case("zero byte in a text", std::string("x = 1\0\n", 7)),
      binary_case("compressed data without a zero byte", std::string(200, '\x02') + "abc"),
      text_case("line ends of other systems", "a\r\nb\rc\r\n", "a\r\nb\rc\r\n"),
      {"notebook that is none",
       written("x.ipynb", "{\"cells\": ["),
       {{"x.ipynb", Gives::invalid, "line 1"}}},
      {"notebook of a million brackets",
       written("x.ipynb", "{\"a\": " + std::string(1'000'000, '[')),
       {{"x.ipynb", Gives::invalid, "nested too deeply"}}},
  };
}

}  // namespace schedmate::hostile
