// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "tests/hostile/cases.hpp"

namespace schedmate::hostile {
namespace {

std::function<void(const World&)> sparse(off_t bytes) {
  return [=](const World& world) { ::truncate(world.write("x.py", "x = 1").c_str(), bytes); };
}

std::function<void(const World&)> many_files(int count) {
  return [=](const World& world) {
    world.write("train.py", "x = 1\n");
    const Descriptor folder(::open(world.folder("data").c_str(), O_RDONLY | O_DIRECTORY));
    for (int i = 0; i < count; ++i) {
      const std::string name = "f" + std::to_string(i);
      const Descriptor file(::openat(folder.number(), name.c_str(), O_CREAT | O_WRONLY, 0644));
    }
  };
}

/// Deeper than a path can be long: made from within.
void make_deep(const World& world) {
  world.write("train.py", "x = 1\n");
  Descriptor here(::open(world.root.c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < 2000; ++i) {
    ::mkdirat(here.number(), "d", 0755);
    here = Descriptor(::openat(here.number(), "d", O_RDONLY | O_DIRECTORY));
  }
}

std::string deep_path(int folders) {
  std::string path;
  for (int i = 0; i < folders; ++i) path += "d/";
  return path + "x.py";
}

constexpr tree::TreeLimits few{
    .file_bytes = 100, .total_bytes = 250, .files = 3, .entries = 40, .depth = 3};

}  // namespace

Cases size_cases() {
  const auto three = [](const World& world) {
    for (const char* name : {"a", "b", "c", "d"}) world.write(name, std::string(100, 'x'));
    world.write("e", std::string(101, 'x'));
  };
  const std::string hundred(100, 'x');
  return {
      {"file of ten gigabytes, all holes",
       sparse(off_t{10} << 30U),
       {{"x.py", Gives::invalid, "10737418240 bytes; the limit is"}}},
      {"line of two gigabytes",
       sparse(off_t{2} << 30U),
       {{"x.py", Gives::invalid, "; the limit is"}}},
      {"file of zeros within the limit",
       sparse(1 << 20),
       {{"x.py", Gives::invalid, "binary, 1048576 bytes"}}},
      {"line of four megabytes",
       [](const World& world) { world.write("x.py", std::string((4 << 20), 'x')); },
       {{"x.py", Gives::text, std::string((4 << 20), 'x')}}},
      {"file at the limit and one beyond",
       three,
       {{"a", Gives::text, hundred}, {"e", Gives::invalid, "101 bytes; the limit is 100"}},
       few},
      {"more bytes than are read of one tree",
       three,
       {{"a", Gives::text, hundred},
        {"b", Gives::text, hundred},
        {"c", Gives::invalid, "beyond the limit of 250 bytes"}},
       few},
      {"empty file",
       [](const World& world) { world.write("x.py", ""); },
       {{"x.py", Gives::text, ""}}},
  };
}

Cases crowd_cases() {
  return {
      {"more files than are read of one tree",
       [](const World& world) {
         for (const char* name : {"a", "b", "c", "d"}) world.write(name, "x\n");
       },
       {{"a", Gives::text, "x\n"},
        {"b", Gives::text, "x\n"},
        {"c", Gives::text, "x\n"},
        {"d", Gives::invalid, "beyond the limit of 3 files"},
        {"a", Gives::text, "x\n"}},
       few},
      {"folder deeper than the limit",
       [](const World& world) {
         world.write("1/2/3/x.py", "x\n");
         world.write("1/2/3/4/x.py", "x\n");
       },
       {{"1/2/3/x.py", Gives::text, "x\n"},
        {"1/2/3/4/x.py", Gives::invalid, "more than 3 folders"}},
       few},
      {"hundred thousand files in one folder",
       many_files(100'000),
       {{"train.py", Gives::text, "x = 1\n"}}},
      {"more files than are listed", many_files(100), {{"train.py", Gives::text, "x = 1\n"}}, few},
      {"two thousand folders within each other",
       make_deep,
       {{"train.py", Gives::text, "x = 1\n"},
        {deep_path(1900), Gives::invalid, "folders below"},
        {deep_path(40), Gives::not_found, ""}}},
  };
}

}  // namespace schedmate::hostile
