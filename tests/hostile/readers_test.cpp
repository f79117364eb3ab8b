// SPDX-License-Identifier: Apache-2.0

/// Who may read what: caller x owner x mode x link, for files and for trees, against the rule as it
/// is written in docs/security.md; and file systems that never answer.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>

#include "base/foreign_file.hpp"
#include "base/input.hpp"
#include "tests/support/hanging_mount.hpp"
#include "tests/support/job_folder.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/patience.hpp"
#include "tree/reader.hpp"

namespace schedmate::hostile {
namespace {

constexpr uid_t root = 0;
constexpr uid_t ann = 20001;
constexpr uid_t bob = 20002;
constexpr std::array people{root, ann, bob};
constexpr std::string_view text = "what stands in the file";

/// How the program is called: as which process, and for whom.
struct Call {
  uid_t process;
  std::optional<uid_t> identity;
};
constexpr std::array calls{Call{root, {}}, Call{root, ann}, Call{root, bob}, Call{ann, {}},
                           Call{bob, {}}};

enum class LinkAt : unsigned char { nowhere, name, folder, both };

struct Setting {
  Call call;
  uid_t owner;       ///< of the file or tree, and of the folder around it
  bool open_to_all;  ///< the file or tree
  bool open_folder;  ///< the folder around it
  LinkAt link_at;
  uid_t link_owner;

  [[nodiscard]] std::string name() const {
    return fmt::format("process {} for {}, owner {}, open {}, folder open {}, link {} of {}",
                       call.process, call.identity ? static_cast<int>(*call.identity) : -1, owner,
                       open_to_all, open_folder, static_cast<int>(link_at), link_owner);
  }
};

/// What the kernel lets a user reach.
bool kernel_allows(uid_t user, const Setting& one) {
  return user == root ||
         ((one.open_folder || one.owner == user) && (one.open_to_all || one.owner == user));
}

/// The rule, in its own words.
bool may_read(const Setting& one, bool tree) {
  const uid_t self = one.call.identity.value_or(one.call.process);
  const bool own_or_open = one.owner == self || one.open_to_all;
  if (self != root) return kernel_allows(self, one) && (!tree || own_or_open);
  if (!own_or_open) return false;
  if (one.link_at == LinkAt::nowhere || one.link_owner == root) return true;
  return kernel_allows(one.link_owner, one);
}

void own(const std::string& path, uid_t user, mode_t mode) {
  REQUIRE(::chown(path.c_str(), user, user) == 0);
  REQUIRE(::chmod(path.c_str(), mode) == 0);
}

void link(const testing::JobFolder& here, const std::string& target, const std::string& name,
          uid_t user) {
  here.link(target, name);
  REQUIRE(::lchown(here.path(name).c_str(), user, user) == 0);
}

/// Makes it, and gives the path that the caller names.
std::string path_of(const Setting& one, const testing::JobFolder& here, bool tree) {
  own(here.path(), root, 0755);
  const std::string folder = here.folder("folder");
  const std::string inner = here.write(tree ? "folder/x/a.py" : "folder/x", text);
  const std::string thing = here.path("folder/x");
  if (tree) own(inner, one.owner, 0644);
  own(thing, one.owner,
      static_cast<mode_t>((tree ? 0700 : 0600) | (one.open_to_all ? (tree ? 055 : 044) : 0)));
  own(folder, one.owner, one.open_folder ? 0755 : 0700);
  std::string named = thing;
  if (one.link_at == LinkAt::folder || one.link_at == LinkAt::both) {
    link(here, folder, "way", one.link_owner);
    named = here.path("way/x");
  }
  if (one.link_at == LinkAt::name || one.link_at == LinkAt::both) {
    link(here, named, "named", one.link_owner);
    named = here.path("named");
  }
  return named;
}

/// "" or why not.
std::string read_it(const std::string& path, const Call& call, bool tree) {
  const Identity who{.user = call.identity};
  if (!tree) {
    const auto got = read_file({path, {.identity = who}});
    return got ? (*got == text ? "" : "other text") : got.error().message;
  }
  const auto reader = tree::TreeReader::open(path, who);
  if (!reader) return reader.error().message;
  const auto said = tree::run_confined(reader->confinement(), [&] {
    auto opened = reader->tree();
    if (!opened) return opened.error().message;
    const auto file = opened->read("a.py");
    return file ? std::string((*file)->text == text ? "" : "other text") : file.error().message;
  });
  return said ? *said : said.error().message;
}

/// The same as another process; its exit code says whether it could read.
bool reads(const std::string& path, const Call& call, bool tree) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (call.process != root && (::setgid(call.process) != 0 || ::setuid(call.process) != 0))
      ::_exit(2);
    const std::string problem = read_it(path, call, tree);
    ::_exit(problem.empty() ? 0 : problem == "other text" ? 3 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 0;
}

/// How many cases there were.
int play_matrix(bool tree) {
  int count = 0;
  for (const Call& call : calls)
    for (const uid_t owner : people)
      for (const int bits : {0, 1, 2, 3})
        for (const LinkAt at : {LinkAt::nowhere, LinkAt::name, LinkAt::folder, LinkAt::both})
          for (const uid_t link_owner : people) {
            if (at == LinkAt::nowhere && link_owner != root) continue;
            // A tree is never a link itself; see below.
            if (tree && (at == LinkAt::name || at == LinkAt::both)) continue;
            const Setting one{call, owner, (bits & 1) != 0, (bits & 2) != 0, at, link_owner};
            const testing::JobFolder here;
            const std::string path = path_of(one, here, tree);
            CHECK_MESSAGE(reads(path, call, tree) == may_read(one, tree), one.name());
            ++count;
          }
  return count;
}

}  // namespace

TEST_CASE("who reads whose files: caller x owner x mode x link" * testing::needs_root()) {
  CHECK(play_matrix(false) == 600);
}

TEST_CASE("who reads whose trees: caller x owner x mode x link" * testing::needs_root()) {
  CHECK(play_matrix(true) == 240);
}

TEST_CASE("links of two users lead nowhere for root" * testing::needs_root()) {
  const testing::JobFolder here;
  own(here.path(), root, 0755);
  const std::string file = here.write("file", text);
  link(here, file, "bobs", bob);
  link(here, here.path("bobs"), "anns", ann);
  const auto got = read_file(here.path("anns"));
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::refused);
  CHECK(got.error().message.contains("links of users 20001 and 20002"));
  CHECK(read_file(here.path("bobs")) == std::string(text));
  link(here, file, "roots", root);
  link(here, here.path("roots"), "anns again", ann);
  CHECK(read_file(here.path("anns again")) == std::string(text));
}

TEST_CASE("a tree is no link, and the files in it are its reader's" * testing::needs_root()) {
  const testing::JobFolder here;
  own(here.path(), root, 0755);
  own(here.write("tree/a.py", text), root, 0600);
  own(here.path("tree"), ann, 0755);
  CHECK(read_it(here.path("tree"), {root, {}}, true).contains("Permission denied"));
  link(here, here.path("tree"), "link", root);
  CHECK(read_it(here.path("link"), {root, {}}, true).contains("is a link"));
  own(here.path("tree"), ann, 0700);
  const std::string why = read_it(here.path("tree"), {root, {}}, true);
  CHECK(why.contains("belongs to user 20001, not to 0, and is not readable for all"));
  CHECK(why.contains("--set reader=20001"));
}

TEST_CASE("a file system that never answers costs no more than the deadline" *
          testing::needs_fuse()) {
  for (const std::uint32_t silent : {0U, std::uint32_t{FUSE_LOOKUP}, std::uint32_t{FUSE_OPEN},
                                     std::uint32_t{FUSE_STATFS}, std::uint32_t{FUSE_READ}}) {
    const testing::HangingMount share(silent);
    REQUIRE(share.mounted());
    ForeignPath path = share.file();
    path.access.budget.answer = std::chrono::milliseconds(200);
    std::optional<Result<std::string>> got;
    CHECK(testing::ends([&] { got = read_file(path); }));
    REQUIRE_FALSE(got->has_value());
    CHECK_MESSAGE(got->error().code == ErrorCode::timeout, silent << got->error().message);
    CHECK(got->error().message.contains("does not answer within 0.2 s"));
  }
}

TEST_CASE("nor does one that holds a tree" * testing::needs_fuse()) {
  for (const std::uint32_t silent :
       {0U, std::uint32_t{FUSE_LOOKUP}, std::uint32_t{FUSE_OPEN}, std::uint32_t{FUSE_READ}}) {
    const testing::HangingMount share(silent);
    REQUIRE(share.mounted());
    const auto hang = [&] {
      tree::Confinement limits;
      limits.wall = std::chrono::milliseconds(300);
      const auto reader =
          tree::TreeReader::open(share.folder(), {}, limits, std::chrono::milliseconds(300));
      if (!reader) return reader.error().code;
      const auto said = tree::run_confined(reader->confinement(), [&] {
        auto opened = reader->tree();
        if (opened) static_cast<void>(opened->read("a.py"));
        return std::string();
      });
      return said ? ErrorCode::invalid : said.error().code;
    };
    ErrorCode code = ErrorCode::invalid;
    CHECK(testing::ends([&] { code = hang(); }));
    CHECK_MESSAGE(code == ErrorCode::timeout, silent);
  }
}

}  // namespace schedmate::hostile
