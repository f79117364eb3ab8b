// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "tests/hostile/cases.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/patience.hpp"
#include "tree/rooted_folder.hpp"

namespace schedmate::hostile {
namespace {

Cases all_cases() {
  Cases all;
  for (auto make : {link_cases, system_link_cases, chain_cases, folder_link_cases, path_cases,
                    kind_cases, size_cases, crowd_cases, name_cases, encoding_cases, secret_cases,
                    ignore_cases, broken_rule_cases}) {
    for (Case& one : make()) all.push_back(std::move(one));
  }
  return all;
}

std::string filled(std::string text, const World& world) {
  constexpr std::string_view name = "{root}";
  const std::size_t at = text.find(name);
  return at == std::string::npos ? text : text.replace(at, name.size(), world.root);
}

std::string problem_with(const Expectation& expected, const Result<const tree::TextFile*>& got) {
  if (expected.gives == Gives::text) {
    if (!got) return "refused: " + got.error().message;
    return (*got)->text == expected.part ? "" : "other text: " + (*got)->text.substr(0, 200);
  }
  if (got) return "was read: " + (*got)->text.substr(0, 200);
  const ErrorCode code = expected.gives == Gives::refused     ? ErrorCode::refused
                         : expected.gives == Gives::not_found ? ErrorCode::not_found
                                                              : ErrorCode::invalid;
  if (got.error().code != code) return "other error: " + got.error().message;
  const bool says = got.error().message.find(expected.part) != std::string::npos;
  return says ? "" : "other message: " + got.error().message;
}

/// With openat2 and by hand, a path leads to the same file or nowhere.
void check_both_ways(const World& world, const std::string& path) {
  const auto root = tree::RootedFolder::open(world.root);
  const auto name = tree::join_path("", path);
  if (!root || !name) return;
  const auto direct = root->open(*name, tree::RootedFolder::Want::look);
  const auto walked = root->walk(*name, tree::RootedFolder::Want::look);
  CHECK(direct.has_value() == walked.has_value());
  if (!direct || !walked) return;
  CHECK(direct->path == walked->path);
  CHECK(direct->status.st_ino == walked->status.st_ino);
}

/// Everything that a curious reader could get at.
void check_nothing_leaks(tree::Tree& tree) {
  for (const tree::TreeEntry& entry : tree.walk("")) {
    if (entry.is_folder) {
      static_cast<void>(tree.list(entry.path));
      continue;
    }
    if (const auto file = tree.read_redacted(entry.path)) {
      CHECK_MESSAGE((*file)->text.find(forbidden_text) == std::string::npos, entry.path);
    }
  }
  for (const std::string& note : tree.degraded()) {
    CHECK(note.find(forbidden_text) == std::string::npos);
  }
}

void read_all(const Case& one, const World& world) {
  auto tree = tree::Tree::open(world.root, one.limits);
  for (const Expectation& expected : one.expected) {
    const std::string path = filled(expected.path, world);
    const auto got = tree ? tree->read(path) : tl::unexpected(tree.error());
    const std::string problem =
        problem_with({path, expected.gives, filled(expected.part, world)}, got);
    CHECK_MESSAGE(problem.empty(), one.name << ", " << expected.path << ": " << problem);
    check_both_ways(world, path);
  }
  if (tree) check_nothing_leaks(*tree);
}

void play(const Case& one) {
  INFO(one.name);
  const World world;
  one.make(world);
  CHECK(testing::ends([&] { read_all(one, world); }));
}

/// How many cases there are that need this and nothing else.
int play_all(Case::Needs needs) {
  int count = 0;
  for (const Case& one : all_cases()) {
    if (one.needs != needs) continue;
    play(one);
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("no hostile tree has the name of another") {
  std::set<std::string> names;
  for (const Case& one : all_cases()) {
    CHECK_MESSAGE(names.insert(one.name).second, "a name twice: " << one.name);
  }
}

TEST_CASE("no hostile tree leads outside, leaks a secret, or takes long") {
  CHECK(play_all(Case::Needs::nobody) >= 80);
}

TEST_CASE("nor does one that only root can make" * testing::needs_root()) {
  CHECK(play_all(Case::Needs::root) > 0);
}

TEST_CASE("nor does one that would not hold up root" * testing::needs_ordinary_user()) {
  CHECK(play_all(Case::Needs::no_root) > 0);
}

}  // namespace schedmate::hostile
