// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "tests/hostile/cases.hpp"

namespace schedmate::hostile {
namespace {

constexpr auto root_only = Case::Needs::root;
constexpr auto no_root = Case::Needs::no_root;

std::function<void(const World&)> fifo(const std::string& name) {
  return [=](const World& world) { ::mkfifo(world.path(name).c_str(), 0644); };
}

std::function<void(const World&)> device(mode_t kind, unsigned major, unsigned minor) {
  return [=](const World& world) {
    ::mknod(world.path("x.py").c_str(), kind | 0644, makedev(major, minor));
  };
}

void make_socket(const World& world) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = world.path("x.py");
  std::ranges::copy(path.substr(0, sizeof address.sun_path - 1), address.sun_path);
  if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::generic_category(), path);
}

std::function<void(const World&)> with_mode(const std::string& name, mode_t mode) {
  return [=](const World& world) {
    world.write("a/x.py", forbidden_text);
    ::chmod(world.path(name).c_str(), mode);
  };
}

}  // namespace

Cases path_cases() {
  const auto plain = [](const World& world) { world.write("a/x.py", "x = 1\n"); };
  return {
      {"path with a step up", plain, {{"../outside/other.py", Gives::refused, "outside the tree"}}},
      {"path with steps down and up",
       plain,
       {{"a/../../outside/other.py", Gives::refused, "outside"},
        {"b/../a/x.py", Gives::text, "x = 1\n"}}},
      {"absolute path", plain, {{"/etc/passwd", Gives::refused, "outside the tree"}}},
      {"absolute path below the root", plain, {{"{root}/a/x.py", Gives::text, "x = 1\n"}}},
      {"absolute path of a neighbour",
       plain,
       {{"{root}2/x.py", Gives::refused, "outside the tree"}}},
      {"absolute path that climbs out of the root",
       plain,
       {{"{root}/../outside/other.py", Gives::refused, "outside the tree"}}},
      {"path of a process", plain, {{"/proc/self/environ", Gives::refused, "outside the tree"}}},
      {"path with a zero byte",
       plain,
       {{std::string("a/x.py\0.txt", 11), Gives::invalid, "NUL byte"}}},
      {"file used as a folder", plain, {{"a/x.py/y.py", Gives::not_found, ""}}},
      {"folder read as a file",
       plain,
       {{"a", Gives::refused, "a folder"}, {"", Gives::refused, "a folder"}}},
      {"path with a thousand folders",
       plain,
       {{std::string(2000, '/') + "x", Gives::refused, "outside"},
        {[] {
           std::string path;
           for (int i = 0; i < 1000; ++i) path += "a/";
           return path + "x.py";
         }(),
         Gives::invalid, "folders below the root"}}},
      {"backslashes are letters", plain, {{"..\\..\\outside\\other.py", Gives::not_found, ""}}},
      {"encoded slashes are letters", plain, {{"..%2foutside%2fother.py", Gives::not_found, ""}}},
      {"root that is a file",
       [](const World& world) {
         ::rmdir(world.root.c_str());
         world.all.write("job", "text");
       },
       {{"x.py", Gives::not_found, "cannot be opened as a folder"}}},
      {"root that is absent",
       [](const World& world) { ::rmdir(world.root.c_str()); },
       {{"x.py", Gives::not_found, "cannot be opened as a folder"}}},
  };
}

Cases kind_cases() {
  return {
      {"pipe", fifo("x.py"), {{"x.py", Gives::refused, "not a regular file"}}},
      {"pipe as the file of ignored names",
       fifo(".schedmateignore"),
       {{"x.py", Gives::refused, ""}}},
      {"link to a pipe",
       [](const World& world) {
         ::mkfifo(world.path("pipe").c_str(), 0644);
         world.link("pipe", "x.py");
       },
       {{"x.py", Gives::refused, "not a regular file"}}},
      {"socket", make_socket, {{"x.py", Gives::refused, "not a regular file"}}},
      {"endless device in the tree",
       device(S_IFCHR, 1, 5),
       {{"x.py", Gives::refused, ""}},
       {},
       root_only},
      {"terminal in the tree",
       device(S_IFCHR, 5, 0),
       {{"x.py", Gives::refused, ""}},
       {},
       root_only},
      {"disk in the tree", device(S_IFBLK, 7, 200), {{"x.py", Gives::refused, ""}}, {}, root_only},
      {"file without rights",
       with_mode("a/x.py", 0),
       {{"a/x.py", Gives::refused, "cannot be opened"}},
       {},
       no_root},
      {"folder without rights",
       with_mode("a", 0),
       {{"a/x.py", Gives::refused, "cannot be opened"}},
       {},
       no_root},
      {"root of another user",
       [](const World& world) {
         world.write("x.py", forbidden_text);
         static_cast<void>(::chown(world.root.c_str(), 12345, 12345));
         ::chmod(world.root.c_str(), 0700);
       },
       {{"x.py", Gives::refused, "belongs to user 12345"}},
       {},
       root_only},
      {"root of another user, open to all",
       [](const World& world) {
         world.write("x.py", "x = 1\n");
         static_cast<void>(::chown(world.root.c_str(), 12345, 12345));
         ::chmod(world.root.c_str(), 0755);
       },
       {{"x.py", Gives::text, "x = 1\n"}},
       {},
       root_only},
  };
}

}  // namespace schedmate::hostile
