// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/hostile/cases.hpp"

namespace schedmate::hostile {
namespace {

constexpr const char* leaves = "leads outside the tree";

std::function<void(const World&)> linked(const std::string& target,
                                         const std::string& name = "x.py") {
  return [=](const World& world) { world.link(target, name); };
}

}  // namespace

Cases link_cases() {
  return {
      {"relative link out", linked("../outside/other.py"), {{"x.py", Gives::refused, leaves}}},
      {"absolute link out",
       [](const World& world) { world.link(world.outside(), "x.py"); },
       {{"x.py", Gives::refused, "the absolute link"}}},
      {"link to the password file", linked("/etc/passwd"), {{"x.py", Gives::refused, leaves}}},
      {"link to a folder outside",
       linked("../outside", "data"),
       {{"data/other.py", Gives::refused, leaves}, {"data", Gives::refused, leaves}}},
      {"absolute link to a folder outside",
       [](const World& world) { world.link(world.outside(""), "data"); },
       {{"data/other.py", Gives::refused, leaves}}},
      {"link out of a deep folder",
       linked("../../../../outside/other.py", "a/b/c/x.py"),
       {{"a/b/c/x.py", Gives::refused, leaves}}},
      {"link out and back in",
       [](const World& world) {
         world.write("a.py", "a = 1\n");
         world.link("../job/a.py", "x.py");
       },
       {{"x.py", Gives::refused, leaves}}},
      {"absolute link that stays inside",
       [](const World& world) { world.link(world.write("a/b.py", "b = 1\n"), "x.py"); },
       {{"x.py", Gives::text, "b = 1\n"}}},
      {"absolute link to the root itself",
       [](const World& world) {
         world.write("a.py", "a = 1\n");
         world.link(world.root, "here");
       },
       {{"here/here/a.py", Gives::text, "a = 1\n"}}},
      {"absolute link to a neighbour with the root's name as its start",
       [](const World& world) {
         world.all.write("job2/x.py", forbidden_text);
         world.link(world.all.path("job2/x.py"), "x.py");
       },
       {{"x.py", Gives::refused, leaves}}},
      {"absolute link inside that goes on to the outside",
       [](const World& world) { world.link(world.root + "/../outside/other.py", "x.py"); },
       {{"x.py", Gives::refused, leaves}}},
      {"dangling link", linked("nothing.py"), {{"x.py", Gives::not_found, ""}}},
      {"hard link within the tree",
       [](const World& world) {
         std::filesystem::create_hard_link(world.write("a.py", "a = 1\n"), world.path("x.py"));
       },
       {{"x.py", Gives::text, "a = 1\n"}}},
      {"root that is a link",
       [](const World& world) {
         std::filesystem::remove(world.root);
         world.all.link("outside", "job");
       },
       {{"other.py", Gives::refused, "give the folder it points to"}}},
  };
}

Cases system_link_cases() {
  return {
      {"root of a process",
       linked("/proc/self/"
              "root/etc/passwd"),
       {{"x.py", Gives::refused, leaves}}},
      {"folder of a process", linked("/proc/self/cwd", "cwd"), {{"cwd/a", Gives::refused, leaves}}},
      {"open file of a process", linked("/proc/self/fd/0"), {{"x.py", Gives::refused, leaves}}},
      {"environment of a process",
       linked("/proc/self/environ"),
       {{"x.py", Gives::refused, leaves}}},
      {"standard input", linked("/dev/stdin"), {{"x.py", Gives::refused, leaves}}},
      {"endless device", linked("/dev/zero"), {{"x.py", Gives::refused, leaves}}},
  };
}

Cases chain_cases() {
  const auto chain = [](int length) {
    return [length](const World& world) {
      world.write("0", "end\n");
      for (int i = 1; i <= length; ++i) world.link(std::to_string(i - 1), std::to_string(i));
    };
  };
  return {
      {"two links, the second leads out",
       [](const World& world) {
         world.link("b.py", "x.py");
         world.link("../outside/other.py", "b.py");
       },
       {{"x.py", Gives::refused, leaves}}},
      {"link to itself", linked("x.py"), {{"x.py", Gives::refused, "circle"}}},
      {"two links in a circle",
       [](const World& world) {
         world.link("b.py", "a.py");
         world.link("a.py", "b.py");
       },
       {{"a.py", Gives::refused, "circle"}}},
      {"forty links", chain(40), {{"40", Gives::text, "end\n"}}},
      {"fifty links", chain(50), {{"50", Gives::refused, "circle"}}},
      {"link with a very long text",
       [](const World& world) {
         std::string text;
         for (int i = 0; i < 1000; ++i) text += "a/..";
         world.folder("a");
         std::string target;
         for (int i = 0; i < 500; ++i) target += "a/../";
         world.link(target + "b.py", "x.py");
       },
       {{"x.py", Gives::refused, "too many levels"}}},
      {"link that doubles at each step",
       [](const World& world) {
         world.link(".", "l0");
         for (int i = 1; i < 30; ++i) {
           const std::string before = "l" + std::to_string(i - 1);
           world.link(fmt::format("{0}/{0}", before), "l" + std::to_string(i));
         }
       },
       {{"l29/x.py", Gives::refused, "circle"}}},
  };
}

Cases folder_link_cases() {
  return {
      {"links through folders, each a step up",
       [](const World& world) {
         world.link("..", "a/up");
         world.link("up/..", "a/out");
         world.write("b.py", "b = 1\n");
       },
       {{"a/up/b.py", Gives::text, "b = 1\n"}, {"a/out/outside/other.py", Gives::refused, leaves}}},
      {"folder that holds itself",
       [](const World& world) {
         world.write("a/b.py", "b = 1\n");
         world.link("../a", "a/again");
         world.link("..", "a/up");
       },
       {{"a/again/again/b.py", Gives::text, "b = 1\n"}}},
      {"links with dots and doubled slashes",
       [](const World& world) {
         world.write("a/b.py", "b = 1\n");
         world.link(".//./a/.././/a//b.py", "x.py");
       },
       {{"x.py", Gives::text, "b = 1\n"}}},
      {"shared scripts behind links, as in recipe folders",
       [](const World& world) {
         world.write("shared/run.sh", "run\n");
         world.link("../../shared/run.sh", "recipes/a/run.sh");
         world.link("../../shared", "recipes/a/utils");
       },
       {{"recipes/a/run.sh", Gives::text, "run\n"},
        {"recipes/a/utils/run.sh", Gives::text, "run\n"}}},
  };
}

}  // namespace schedmate::hostile
