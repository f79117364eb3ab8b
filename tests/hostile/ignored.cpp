// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/hostile/cases.hpp"

namespace schedmate::hostile {
namespace {

constexpr const char* ignored = "ignored by .schedmateignore";

/// Files a.py, b/c.py and b/d/e.py beside the rules.
std::function<void(const World&)> rules(const std::string& text) {
  return [=](const World& world) {
    world.write(".schedmateignore", text);
    for (const char* name : {"a.py", "b/c.py", "b/d/e.py"}) world.write(name, "x\n");
  };
}

std::string many(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("p{}\n", i);
  return text;
}

}  // namespace

Cases ignore_cases() {
  return {
      {"secrets cannot be taken back",
       [](const World& world) {
         world.write(".schedmateignore", "!.env\n!*.pem\n!.git/\n");
         world.write(".env", forbidden_text);
         world.write("a.pem", forbidden_text);
         world.write(".git/config", forbidden_text);
       },
       {{".env", Gives::refused, "keys"},
        {"a.pem", Gives::refused, "keys"},
        {".git/config", Gives::refused, "keys"}}},
      {"file in an ignored folder cannot be taken back",
       rules("b/\n!b/c.py\n"),
       {{"b/c.py", Gives::refused, ignored}, {"a.py", Gives::text, "x\n"}}},
      {"everything ignored",
       rules("*\n"),
       {{"a.py", Gives::refused, ignored}, {"b/c.py", Gives::refused, ignored}}},
      {"everything ignored but one folder",
       rules("/*\n!/b\n"),
       {{"a.py", Gives::refused, ignored}, {"b/d/e.py", Gives::text, "x\n"}}},
      {"ignored file behind a link",
       [](const World& world) {
         world.write(".schedmateignore", "private/\n");
         world.write("private/a.py", forbidden_text);
         world.link("private/a.py", "x.py");
         world.link("private", "p");
       },
       {{"x.py", Gives::refused, ignored}, {"p/a.py", Gives::refused, ignored}}},
  };
}

Cases broken_rule_cases() {
  const Expectation all_refused{"a.py", Gives::invalid, ".schedmateignore"};
  return {
      {"rules from outside",
       [](const World& world) {
         world.link("../outside/other.py", ".schedmateignore");
         world.write("a.py", "x\n");
       },
       {{"a.py", Gives::refused, "leads outside"}}},
      {"folder in the place of rules",
       [](const World& world) { world.folder(".schedmateignore"); },
       {{"a.py", Gives::refused, ".schedmateignore"}}},
      {"binary rules", rules(std::string("\0\1\2", 3)), {all_refused}},
      {"a megabyte of rules", rules(std::string(1 << 20, '#')), {all_refused}},
      {"a thousand rules and one more", rules(many(1001)), {all_refused}},
      {"a thousand rules", rules(many(1000)), {{"a.py", Gives::text, "x\n"}}},
      {"a rule of a thousand letters", rules(std::string(1000, 'a')), {all_refused}},
      {"a rule that branches without end",
       [](const World& world) {
         std::string rule;
         for (int i = 0; i < 60; ++i) rule += "*a";
         std::string deep;
         for (int i = 0; i < 60; ++i) deep += "**/";
         world.write(".schedmateignore", rule + "b\n" + deep + "b\n");
         world.write(std::string(250, 'a'), "x\n");
       },
       {{std::string(250, 'a'), Gives::text, "x\n"}}},
      {"rules in UTF-16",
       rules(std::string("\xFF\xFE"
                         "a\0.\0p\0y\0\n\0",
                         12)),
       {{"a.py", Gives::refused, ignored}}},
      {"rules with broken brackets",
       rules("[\n[a\n[]\n[!\n\\\n!\n/\n#a.py\n\n   \n"),
       {{"a.py", Gives::text, "x\n"}}},
  };
}

}  // namespace schedmate::hostile
