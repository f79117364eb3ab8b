// SPDX-License-Identifier: Apache-2.0
#include "tree/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/sha256.hpp"
#include "secrets/redact.hpp"
#include "tree/encoding.hpp"
#include "tree/folder.hpp"
#include "tree/ignore.hpp"
#include "tree/names.hpp"
#include "tree/notebook.hpp"
#include "tree/read_bytes.hpp"
#include "tree/rooted_folder.hpp"
#include "tree/roots.hpp"

namespace schedmate::tree {
namespace {

using Want = RootedFolder::Want;

constexpr const char* ignore_file = ".schedmateignore";
constexpr std::size_t most_ignore_bytes = 1 << 16;
constexpr std::size_t most_notes = 300;

FileVersion version_of(std::string_view path, const struct stat& status) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  return {std::string(path), static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec, status.st_ino, ""};
}

TextFile text_file(std::string_view path, std::string text, std::string hash) {
  TextFile file{.path = std::string(path),
                .text = std::move(text),
                .line_starts = {},
                .hash = std::move(hash)};
  for (std::size_t at = 0; at < file.text.size();) {
    file.line_starts.push_back(at);
    const std::size_t end = file.text.find('\n', at);
    at = end == std::string::npos ? file.text.size() : end + 1;
  }
  return file;
}

Result<IgnoreRules> read_ignore_rules(const RootedFolder& root) {
  auto opened = root.open(ignore_file, Want::read);
  if (!opened && opened.error().code == ErrorCode::not_found) return IgnoreRules();
  if (!opened) return tl::unexpected(opened.error());
  auto bytes = read_bytes(*opened, most_ignore_bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto text = as_utf8(std::move(bytes->bytes));
  if (!text) return fail(ErrorCode::invalid, fmt::format("{}: not text", ignore_file));
  return IgnoreRules::parse(*text);
}

}  // namespace

struct Tree::Inside {
  using Kept = std::unique_ptr<TextFile>;
  enum class Kind : std::uint8_t { nothing, file, folder };

  RootedFolder root;
  RootNames names;
  TreeLimits limits;
  TrustedOwners rule;
  IgnoreRules ignore;
  std::map<std::string, Kept, std::less<>> kept;
  std::map<const TextFile*, Kept> redacted;
  std::vector<Kept> overlaid;  ///< what put() replaced; pointers to it stay good
  std::map<std::string, Error, std::less<>> failed;
  std::map<std::string, Kind, std::less<>> kinds;
  std::set<std::string, std::less<>> written_folders;
  std::vector<std::string> files_read;
  std::vector<FileVersion> versions;
  std::vector<std::string> degraded;
  std::set<std::string, std::less<>> noted;
  std::size_t total_bytes = 0;

  [[nodiscard]] Result<std::string> normal(std::string_view path) const;
  [[nodiscard]] Result<void> allowed(std::string_view path, bool is_folder) const;
  [[nodiscard]] Result<Opened> open(const std::string& path, Want want) const;
  Result<Kept> load(const std::string& path);
  Kind kind(std::string_view path);
  void note(std::string text);
  std::vector<FolderEntry> entries(std::string_view folder, std::size_t most);
  void add_written(std::string_view folder, bool below, std::vector<TreeEntry>& out) const;
};

void Tree::Inside::note(std::string text) {
  if (degraded.size() > most_notes || !noted.insert(text).second) return;
  if (degraded.size() == most_notes) text = "too many notes; the rest are left out";
  degraded.push_back(std::move(text));
}

Result<std::string> Tree::Inside::normal(std::string_view path) const {
  const std::string& place = root.place();
  if (path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/')) {
    path.remove_prefix(std::min(path.size(), place.size() + 1));
  }
  const auto named = path.starts_with('/') ? names.inside(path) : std::nullopt;
  auto joined = join_path("", named ? std::string_view(*named) : path);
  if (joined && std::ranges::count(*joined, '/') > limits.depth) {
    return fail(ErrorCode::invalid, fmt::format("{}: more than {} folders below the root",
                                                cut_utf8(*joined, 100), limits.depth));
  }
  if (joined && !is_plain_name(*joined)) {
    return fail(ErrorCode::invalid, "a file name that is not plain text is left out");
  }
  return joined;
}

Result<void> Tree::Inside::allowed(std::string_view path, bool is_folder) const {
  if (is_secret_path(path)) {
    return fail(ErrorCode::refused, fmt::format("{}: a file of keys or passwords", path));
  }
  if (is_agent_text(path)) {
    return fail(ErrorCode::refused, fmt::format("{}: written for coding agents", path));
  }
  if (ignore.ignores(path, is_folder)) {
    return fail(ErrorCode::refused, fmt::format("{}: ignored by {}", path, ignore_file));
  }
  return {};
}

/// The rules about names hold for the path as asked for and for what its links lead to.
Result<Opened> Tree::Inside::open(const std::string& path, Want want) const {
  if (auto fine = allowed(path, want == Want::list); !fine) return tl::unexpected(fine.error());
  auto opened = root.open(path, want);
  if (!opened) return opened;
  if (auto fine = allowed(opened->path, S_ISDIR(opened->status.st_mode)); !fine) {
    return tl::unexpected(fine.error());
  }
  return opened;
}

Result<Tree::Inside::Kept> Tree::Inside::load(const std::string& path) {
  if (files_read.size() >= limits.files) {
    return fail(ErrorCode::invalid,
                fmt::format("{}: beyond the limit of {} files per tree", path, limits.files));
  }
  auto opened = open(path, Want::read);
  if (!opened) return tl::unexpected(opened.error());
  auto bytes = read_bytes(*opened, limits.file_bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  const std::size_t size = bytes->bytes.size();
  if (size > limits.total_bytes - std::min(total_bytes, limits.total_bytes)) {
    return fail(ErrorCode::invalid,
                fmt::format("{}: beyond the limit of {} bytes per tree", path, limits.total_bytes));
  }
  if (!bytes->settled) note(fmt::format("{}: changed while it was being read", path));
  std::string hash = sha256(bytes->bytes);
  const int odd_line = line_not_utf8(bytes->bytes);
  auto text = as_utf8(std::move(bytes->bytes));
  if (!text) return fail(ErrorCode::invalid, fmt::format("{}: binary, {} bytes", path, size));
  if (path.ends_with(".ipynb")) {
    auto code = notebook_code(*text);
    if (!code) return fail(code.error().code, fmt::format("{}: {}", path, code.error().message));
    text = std::move(*code);
  }
  total_bytes += size;
  FileVersion version = version_of(path, bytes->status);
  version.hash = hash;
  versions.push_back(std::move(version));
  auto file = std::make_unique<TextFile>(text_file(path, std::move(*text), std::move(hash)));
  file->odd_line = odd_line;
  return file;
}

Tree::Inside::Kind Tree::Inside::kind(std::string_view path) {
  const auto name = normal(path);
  if (!name) return Kind::nothing;
  if (const auto known = kept.find(*name); known != kept.end()) return Kind::file;
  if (written_folders.contains(*name)) return Kind::folder;
  const auto [place, is_new] = kinds.try_emplace(*name, Kind::nothing);
  if (!is_new) return place->second;
  if (const auto opened = open(*name, Want::look)) {
    const mode_t mode = opened->status.st_mode;
    place->second = S_ISREG(mode) ? Kind::file : S_ISDIR(mode) ? Kind::folder : Kind::nothing;
  }
  return place->second;
}

std::vector<FolderEntry> Tree::Inside::entries(std::string_view folder, std::size_t most) {
  auto listed = list_folder(root, folder, std::min(most, limits.entries / 4));
  if (!listed) return {};
  if (!listed->whole) note(fmt::format("{}: too many entries; the rest are not listed", folder));
  if (listed->odd_names)
    note(fmt::format("{}: names that are not plain text were left out", folder));
  std::erase_if(listed->entries, [&](const FolderEntry& found) {
    const bool is_folder = found.entry.is_folder;
    return !allowed(found.entry.path, is_folder) ||
           (found.is_link && !allowed(found.real, is_folder));
  });
  return std::move(listed->entries);
}

/// Written files and their folders stand in lists as if they were there.
void Tree::Inside::add_written(std::string_view folder, bool below,
                               std::vector<TreeEntry>& out) const {
  const std::string before = folder == "." ? "" : std::string(folder) + "/";
  const auto add = [&](TreeEntry entry) {
    const std::string_view path = entry.path;
    if (!path.starts_with(before) || path.size() == before.size()) return;
    if (!below && path.find('/', before.size()) != std::string_view::npos) return;
    std::erase_if(out, [&](const TreeEntry& other) { return other.path == entry.path; });
    out.push_back(std::move(entry));
  };
  for (const std::string& path : written_folders) add({path, true, 0});
  for (const auto& [path, one] : kept) {
    if (one->written) add({path, false, one->text.size()});
  }
  std::ranges::sort(out, {}, &TreeEntry::path);
}

Tree::Tree(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Tree::Tree(Tree&&) noexcept = default;
Tree& Tree::operator=(Tree&&) noexcept = default;
Tree::~Tree() = default;

Result<Tree> Tree::open(const std::string& root, TreeLimits limits, TrustedOwners rule) {
  return RootedFolder::open(root).and_then(
      [&](RootedFolder beneath) { return open(std::move(beneath), limits, rule); });
}

Result<Tree> Tree::open(RootedFolder root, TreeLimits limits, TrustedOwners rule) {
  if (auto fine = schedmate::tree::check_owner(root.descriptor(), rule, root.place()); !fine) {
    return tl::unexpected(fine.error());
  }
  auto ignore = read_ignore_rules(root);
  if (!ignore) return tl::unexpected(ignore.error());
  auto inside = std::make_unique<Inside>(Inside{.root = std::move(root),
                                                .names = {},
                                                .limits = limits,
                                                .rule = rule,
                                                .ignore = std::move(*ignore),
                                                .kept = {},
                                                .redacted = {},
                                                .overlaid = {},
                                                .failed = {},
                                                .kinds = {},
                                                .written_folders = {},
                                                .files_read = {},
                                                .versions = {},
                                                .degraded = {},
                                                .noted = {}});
  return Tree(std::move(inside));
}

Result<const TextFile*> Tree::read(std::string_view path) {
  const auto name = inside_->normal(path);
  if (!name) {
    inside_->note(name.error().message);
    return tl::unexpected(name.error());
  }
  if (const auto known = inside_->kept.find(*name); known != inside_->kept.end()) {
    return known->second.get();
  }
  if (const auto bad = inside_->failed.find(*name); bad != inside_->failed.end()) {
    return tl::unexpected(bad->second);
  }
  auto loaded = inside_->load(*name);
  if (!loaded) {
    if (loaded.error().code != ErrorCode::not_found) inside_->note(loaded.error().message);
    inside_->failed.emplace(*name, loaded.error());
    return tl::unexpected(loaded.error());
  }
  inside_->files_read.push_back(*name);
  const auto place = inside_->kept.emplace(*name, std::move(*loaded)).first;
  return place->second.get();
}

Result<const TextFile*> Tree::read_redacted(std::string_view path) {
  auto file = read(path);
  if (!file) return file;
  auto& kept = inside_->redacted[*file];
  if (!kept) {
    kept = std::make_unique<TextFile>(
        text_file((*file)->path, secrets::redact((*file)->text), (*file)->hash));
    kept->written = (*file)->written;
  }
  return kept.get();
}

void Tree::put(std::string_view path, std::string text) {
  const auto name = inside_->normal(path);
  const auto fine = name ? inside_->allowed(*name, false) : tl::unexpected(name.error());
  if (!fine) return inside_->note(fine.error().message + " (written by the command)");
  if (text.size() > inside_->limits.file_bytes) {
    return inside_->note(
        fmt::format("{}: the command writes too much; the rest is left out", *name));
  }
  for (std::size_t at = name->find('/'); at != std::string::npos; at = name->find('/', at + 1)) {
    inside_->written_folders.insert(name->substr(0, at));
  }
  std::string hash = sha256(text);
  auto laid = std::make_unique<TextFile>(text_file(*name, std::move(text), std::move(hash)));
  laid->written = true;
  auto& place = inside_->kept[*name];
  if (place) {
    laid->below = place.get();
    inside_->overlaid.push_back(std::move(place));
  }
  place = std::move(laid);
}

bool Tree::is_file(std::string_view path) { return inside_->kind(path) == Inside::Kind::file; }
bool Tree::is_folder(std::string_view path) { return inside_->kind(path) == Inside::Kind::folder; }

std::vector<TreeEntry> Tree::list(std::string_view folder) {
  const auto name = inside_->normal(folder);
  std::vector<TreeEntry> out;
  if (!name || !is_folder(*name)) return out;
  for (auto& found : inside_->entries(*name, inside_->limits.entries)) {
    out.push_back(std::move(found.entry));
  }
  inside_->add_written(*name, false, out);
  return out;
}

std::vector<TreeEntry> Tree::walk(std::string_view folder) {
  const auto name = inside_->normal(folder);
  std::vector<TreeEntry> out;
  if (!name || !is_folder(*name)) return out;
  // Level by level, so that a limit cuts off what lies deepest.
  std::deque<std::string> waiting{*name};
  for (; !waiting.empty(); waiting.pop_front()) {
    const std::size_t left = inside_->limits.entries - out.size();
    if (left == 0) {
      inside_->note(fmt::format("more than {} files; the rest are not listed", out.size()));
      break;
    }
    for (auto& found : inside_->entries(waiting.front(), left)) {
      const bool too_deep = std::ranges::count(found.entry.path, '/') >= inside_->limits.depth;
      if (found.entry.is_folder && too_deep) {
        inside_->note(
            fmt::format("folders more than {} deep are not listed", inside_->limits.depth));
      }
      if (found.entry.is_folder && !found.is_link && !too_deep) waiting.push_back(found.entry.path);
      out.push_back(std::move(found.entry));
    }
  }
  inside_->add_written(*name, true, out);
  return out;
}

Result<void> Tree::check_owner(std::string_view folder) {
  const auto name = inside_->normal(folder);
  if (!name) return tl::unexpected(name.error());
  const auto opened = inside_->open(*name, Want::list);
  if (!opened) return tl::unexpected(opened.error());
  return schedmate::tree::check_owner(opened->file.number(), inside_->rule, *name);
}

std::vector<FileVersion> Tree::versions() const {
  auto sorted = inside_->versions;
  std::ranges::sort(sorted, {}, &FileVersion::path);
  return sorted;
}

Result<FileVersion> Tree::look(std::string_view path) {
  const auto name = inside_->normal(path);
  if (!name) return tl::unexpected(name.error());
  const auto opened = inside_->open(*name, Want::look);
  if (!opened) return tl::unexpected(opened.error());
  if (!S_ISREG(opened->status.st_mode)) {
    return fail(ErrorCode::refused, fmt::format("{}: not a regular file", *name));
  }
  return version_of(*name, opened->status);
}

void Tree::add_root(std::string_view as, std::string_view folder) {
  inside_->names.add(as, folder);
}

Result<std::string> Tree::locate(std::string_view base, std::string_view path) {
  if (!path.starts_with('/')) return join_path(base, path);
  auto name = inside_->normal(path);
  if (name) return name;
  constexpr std::size_t sure_parts = 2;
  if (const auto found = guess(path, sure_parts)) return *found;
  return name;
}

std::optional<std::string> Tree::guess(std::string_view path, std::size_t least_parts) {
  std::string_view end = path;
  for (auto more = std::ranges::count(path, '/'); more > inside_->limits.depth; --more)
    end.remove_prefix(end.find('/') + 1);
  for (auto slash = end.find('/'); slash != std::string_view::npos; slash = end.find('/')) {
    end.remove_prefix(slash + 1);
    const auto there = join_path("", end);
    if (!there || *there == ".") continue;
    const auto parts = static_cast<std::size_t>(std::ranges::count(*there, '/')) + 1;
    if (parts < least_parts) return std::nullopt;
    const auto kind = inside_->kind(*there);
    if (kind == Inside::Kind::nothing) continue;
    const auto as = path.substr(0, path.size() - end.size());
    const bool tells = path.starts_with('/') && as.size() > 1 && !as.starts_with("/@") &&
                       (kind == Inside::Kind::file || parts > 1);
    if (tells) {
      const auto name = as.substr(0, as.size() - 1);
      inside_->names.add(name, ".");
      inside_->note(
          fmt::format("'{}' is taken for the job's folder, which has {}; "
                      "--root {}=. confirms it, --root {}=FOLDER corrects it",
                      name, *there, name, name));
    }
    return *there;
  }
  return std::nullopt;
}

std::string Tree::with_root(std::string_view text, std::string_view mark) const {
  const auto& names = inside_->names;
  return names.empty() || !text.contains('/') ? std::string(text) : names.replaced(text, mark);
}

const std::vector<std::string>& Tree::files_read() const { return inside_->files_read; }
const std::vector<std::string>& Tree::degraded() const { return inside_->degraded; }
void Tree::degrade(std::string note) { inside_->note(std::move(note)); }

}  // namespace schedmate::tree
