// SPDX-License-Identifier: Apache-2.0
#include "tree/tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "base/sha256.hpp"
#include "tests/support/job_folder.hpp"

namespace schedmate::tree {
namespace {

std::vector<std::string> paths(const std::vector<TreeEntry>& entries) {
  std::vector<std::string> out;
  for (const TreeEntry& entry : entries) out.push_back(entry.path + (entry.is_folder ? "/" : ""));
  return out;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("paths are joined by their text and stay below the root") {
  CHECK(join_path("a/b", "../c.py") == std::string("a/c.py"));
  CHECK(join_path("", "a/./b//c/..") == std::string("a/b"));
  CHECK(join_path("a", "..") == std::string("."));
  CHECK(join_path(".", "") == std::string("."));
  CHECK(join_path("a", "../../b").error().code == ErrorCode::refused);
  CHECK(join_path("a", "/b").error().code == ErrorCode::refused);
  CHECK(join_path("", std::string("a\0b", 3)).error().code == ErrorCode::invalid);
}

TEST_CASE("a text file knows its lines") {
  const testing::JobFolder job;
  job.write("x.py", "a\r\n\nlast");
  auto tree = Tree::open(job.path());
  REQUIRE(tree);
  const TextFile& file = **tree->read("x.py");
  CHECK(file.lines() == 3);
  CHECK(file.line(1) == "a");
  CHECK(file.line(2).empty());
  CHECK(file.line(3) == "last");
  CHECK(file.line(0).empty());
  CHECK(file.line(4).empty());
  CHECK(file.line_of(0) == 1);
  CHECK(file.line_of(2) == 1);
  CHECK(file.line_of(3) == 2);
  CHECK(file.line_of(99) == 3);
  CHECK(file.hash == sha256("a\r\n\nlast"));
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("files and folders are distinguished, through links too") {
  const testing::JobFolder job;
  job.write("a/b.py", "x");
  job.link("a/b.py", "link.py");
  job.link("a", "folder");
  auto tree = Tree::open(job.path());
  REQUIRE(tree);
  CHECK(tree->is_file("a/b.py"));
  CHECK(tree->is_file("link.py"));
  CHECK(tree->is_file("./folder/../folder/b.py"));
  CHECK(tree->is_folder("folder"));
  CHECK(tree->is_folder(""));
  CHECK_FALSE(tree->is_file("a"));
  CHECK_FALSE(tree->is_file("c.py"));
  CHECK_FALSE(tree->is_folder("../"));
  CHECK(paths(tree->list(".")) == Paths{"a/", "folder/", "link.py"});
  CHECK(paths(tree->list("folder")) == Paths{"folder/b.py"});
  CHECK(paths(tree->walk("")) == Paths{"a/", "a/b.py", "folder/", "link.py"});
  CHECK(tree->list("absent").empty());
  CHECK(tree->degraded().empty());
}

TEST_CASE("what is ignored or secret is in no list") {
  const testing::JobFolder job;
  job.write(".schedmateignore", "/data/\n*.log\n");
  for (const char* name : {"data/x.py", "a.log", ".env", ".git/config", "a.py", "b/data/c.py"}) {
    job.write(name, "x");
  }
  auto tree = Tree::open(job.path());
  REQUIRE(tree);
  CHECK(paths(tree->walk("")) == Paths{".schedmateignore", "a.py", "b/", "b/data/", "b/data/c.py"});
  CHECK_FALSE(tree->is_file(".env"));
  CHECK_FALSE(tree->is_folder("data"));
  CHECK_FALSE(tree->read("a.log"));
  CHECK(tree->degraded() == Paths{"a.log: ignored by .schedmateignore"});
}

TEST_CASE("a written file lies over the tree and says so") {
  const testing::JobFolder job;
  job.write("a.py", "lr = 1\n");
  auto tree = Tree::open(job.path());
  REQUIRE(tree);
  const TextFile* before = *tree->read("a.py");
  tree->put("./a.py", "lr = 2\n");
  tree->put("new/conf/b.yaml", "x: 1\n");
  CHECK(before->text == "lr = 1\n");
  const auto after = tree->read("a.py");
  REQUIRE(after);
  CHECK((*after)->text == "lr = 2\n");
  CHECK((*after)->written);
  CHECK_FALSE(before->written);
  CHECK(tree->is_folder("new"));
  CHECK(tree->is_file("new/conf/b.yaml"));
  CHECK(paths(tree->list("new")) == Paths{"new/conf/"});
  CHECK(paths(tree->walk("")) == Paths{"a.py", "new/", "new/conf/", "new/conf/b.yaml"});
  CHECK(tree->files_read() == Paths{"a.py"});
  CHECK(tree->versions().front().hash == before->hash);
  CHECK(tree->degraded().empty());
  tree->put("/elsewhere/x.py", "x");
  tree->put(".env", "x");
  CHECK(tree->degraded().size() == 2);
  CHECK(job.read("a.py") == "lr = 1\n");
}

TEST_CASE("what may leave the process has the same lines and no keys") {
  const testing::JobFolder job;
  job.write("a.py", "lr = 1\npassword = 'hunter2'\nepochs = 3\n");
  auto tree = Tree::open(job.path());
  REQUIRE(tree);
  const auto clean = tree->read_redacted("a.py");
  REQUIRE(clean);
  CHECK((*clean)->line(2) == "password = '[redacted]'");
  CHECK((*clean)->line(3) == "epochs = 3");
  CHECK((*tree->read("a.py"))->line(2) == "password = 'hunter2'");
  CHECK(tree->read_redacted("a.py") == *clean);
  CHECK_FALSE(tree->read_redacted("b.py"));
}

TEST_CASE("a closure is known again by stat, and by content where stat changed") {
  namespace fs = std::filesystem;
  const testing::JobFolder job;
  const std::string touched = job.write("a.py", "a = 1\n");
  job.write("b.py", "b = 1\n");
  job.write("c.py", "c = 1\n");
  auto tree = Tree::open(job.path());
  REQUIRE(tree);
  for (const char* name : {"b.py", "a.py"}) REQUIRE(tree->read(name));
  const auto versions = tree->versions();
  CHECK(versions.front().path == "a.py");
  CHECK(versions.front().size == 6);

  auto later = Tree::open(job.path());
  REQUIRE(later);
  CHECK(unchanged(*later, versions));
  job.write("c.py", "c = 2\n");
  CHECK(unchanged(*later, versions));
  fs::last_write_time(touched, fs::last_write_time(touched) + std::chrono::seconds(9));
  CHECK_FALSE(unchanged(*later, versions));
  CHECK(changed_files(*later, versions).empty());
  CHECK(later->files_read() == Paths{"a.py"});
  job.write("b.py", "b = 22\n");
  CHECK(changed_files(*later, versions) == Paths{"b.py"});
  fs::remove(job.path("a.py"));
  CHECK_FALSE(unchanged(*later, versions));

  auto reversed = versions;
  std::ranges::reverse(reversed);
  CHECK(closure_hash(reversed) == closure_hash(versions));
  CHECK(closure_hash(versions) != closure_hash(std::span(versions).first(1)));
}

TEST_CASE("the owner's rule looks at the opened folder") {
  const testing::JobFolder job;
  job.folder("w");
  std::filesystem::permissions(job.path(), std::filesystem::perms::owner_all);
  const uid_t somebody_else = ::geteuid() + 1;
  CHECK(Tree::open(job.path(), {}, {.owner = ::geteuid(), .world_readable = false}));
  const auto closed = Tree::open(job.path(), {}, {.owner = somebody_else, .world_readable = true});
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::refused);
  CHECK(closed.error().message.find("not readable for all") != std::string::npos);

  std::filesystem::permissions(job.path(), std::filesystem::perms(0755));
  CHECK_FALSE(Tree::open(job.path(), {}, {.owner = somebody_else, .world_readable = false}));
  auto open = Tree::open(job.path(), {}, {.owner = somebody_else, .world_readable = true});
  REQUIRE(open);
  CHECK(open->check_owner("w"));
  std::filesystem::permissions(job.path("w"), std::filesystem::perms::owner_all);
  CHECK_FALSE(open->check_owner("w"));
  CHECK_FALSE(open->check_owner("absent"));
}

}  // namespace schedmate::tree
