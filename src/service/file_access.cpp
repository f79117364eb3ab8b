// SPDX-License-Identifier: Apache-2.0
#include "service/file_access.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "settings/identity.hpp"
#include "tree/reader.hpp"

namespace schedmate::service {
namespace {

using TreeJson = nlohmann::json;

advisor::FileStamp stamp_of(const tree::FileVersion& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

tree::FileVersion version_of(const advisor::FileStamp& file) {
  return {file.path, file.size, file.mtime_ns, file.inode, file.hash};
}

/// What `work` says of the tree, from a child of its own; null where it cannot.
Result<TreeJson> ask_tree(const std::string& root, const Identity& who,
                          const std::function<Result<TreeJson>(const tree::TreeReader&)>& work) {
  const auto reader = tree::TreeReader::open(root, who);
  if (!reader) return tl::unexpected(reader.error());
  const auto reply = tree::run_confined(reader->confinement(), [&] {
    const auto said = work(*reader);
    const TreeJson json =
        said ? TreeJson::array({0, *said})
             : TreeJson::array({1, static_cast<int>(said.error().code), said.error().message});
    return json.dump(-1, ' ', false, TreeJson::error_handler_t::replace);
  });
  if (!reply) return tl::unexpected(reply.error());
  TreeJson json = TreeJson::parse(*reply);
  if (json[0] == 0) return std::move(json[1]);
  return fail(static_cast<ErrorCode>(json[1].get<int>()), json[2].get<std::string>());
}

Result<TreeJson> closure_of(const tree::TreeReader& reader, std::span<const std::string> files) {
  auto tree = reader.tree();
  if (!tree) return tl::unexpected(tree.error());
  for (const std::string& path : files)
    if (const auto text = tree->read(path); !text) return tl::unexpected(text.error());
  const std::vector<tree::FileVersion> versions = tree->versions();
  TreeJson rows = TreeJson::array();
  for (const tree::FileVersion& file : versions)
    rows.push_back({file.path, file.size, file.mtime_ns, file.inode, file.hash});
  return TreeJson::array({tree::closure_hash(versions), std::move(rows)});
}

Result<advisor::Closure> read_closure(const std::string& root, std::span<const std::string> files,
                                      const Identity& who) {
  const auto said = ask_tree(
      root, who, [&](const tree::TreeReader& reader) { return closure_of(reader, files); });
  if (!said) return tl::unexpected(said.error());
  advisor::Closure closure{said->at(0).get<std::string>(), {}};
  for (const TreeJson& row : said->at(1))
    closure.files.push_back(stamp_of({row[0].get<std::string>(), row[1].get<std::uint64_t>(),
                                      row[2].get<std::int64_t>(), row[3].get<std::uint64_t>(),
                                      row[4].get<std::string>()}));
  return closure;
}

bool is_unchanged(const std::string& root, std::span<const advisor::FileStamp> files,
                  const Identity& who) {
  if (files.empty()) return false;
  const auto said = ask_tree(root, who, [&](const tree::TreeReader& reader) {
    return reader.tree().map([&](tree::Tree tree) {
      std::vector<tree::FileVersion> versions;
      for (const advisor::FileStamp& file : files) versions.push_back(version_of(file));
      return TreeJson(tree::unchanged(tree, versions) ||
                      tree::changed_files(tree, versions).empty());
    });
  });
  return said && said->get<bool>();
}

/// A tree never reads below .git (its config may hold tokens), so that folder is one of its own
/// here. Of it the Version Manager asks for HEAD and refs only.
std::optional<std::string> text_of(const std::string& root, std::string_view path,
                                   const Identity& who) {
  constexpr std::string_view git = ".git/";
  const bool of_git = path.starts_with(git);
  tree::TreeLimits limits;
  limits.file_bytes = std::size_t{1} << 20U;  // packed-refs of ten thousand branches
  const auto said = ask_tree(
      of_git ? root + "/.git" : root, who, [&](const tree::TreeReader& reader) -> Result<TreeJson> {
        auto tree = reader.tree(limits);
        if (!tree) return tl::unexpected(tree.error());
        return tree->read(of_git ? path.substr(git.size()) : path)
            .map([](const tree::TextFile* file) { return TreeJson(file->text); });
      });
  return said ? std::optional(said->get<std::string>()) : std::nullopt;
}

}  // namespace

Result<RequestFiles> request_files(const settings::Session& session) {
  RequestFiles files;
  if (const std::string reader = session.settings.text("reader"); !reader.empty()) {
    auto identity = settings::identity_of(reader);
    if (!identity) return tl::unexpected(identity.error());
    files.access.identity = *std::move(identity);
  }
  files.access.budget = session.budget;
  files.access.note = [left_out = files.left_out](const std::string& sentence) {
    auto text = printable(sentence);
    if (std::ranges::find(*left_out, text) == left_out->end()) left_out->push_back(std::move(text));
  };
  return files;
}

FileAccess as_owner(FileAccess access, const std::string& user) {
  if (::geteuid() != 0 || access.identity.user || user.empty()) return access;
  if (auto owner = settings::identity_of(user)) access.identity = *std::move(owner);
  return access;
}

void add_left_out(const std::vector<std::string>& left_out, Document& document) {
  if (!left_out.empty()) document["left_out"] = left_out;
}

advisor::TreeAccess confined_tree(const Identity& who) {
  return {
      [who](const std::string& root, std::span<const std::string> files) {
        return read_closure(root, files, who);
      },
      [who](const std::string& root, std::span<const advisor::FileStamp> files) {
        return is_unchanged(root, files, who);
      },
      [who](const std::string& root, std::string_view path) { return text_of(root, path, who); }};
}

}  // namespace schedmate::service
