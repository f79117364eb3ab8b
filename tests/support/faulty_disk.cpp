// SPDX-License-Identifier: Apache-2.0
#include "tests/support/faulty_disk.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/random.hpp"

namespace schedmate::testing {
namespace {

constexpr std::size_t sector_bytes = 512;
constexpr int shm_locks = SQLITE_SHM_NLOCK;
constexpr int longest_path = 512;

using File = DiskImage::File;

std::string sector_of(const std::string& bytes, std::size_t sector) {
  std::string text =
      sector * sector_bytes < bytes.size() ? bytes.substr(sector * sector_bytes, sector_bytes) : "";
  text.resize(sector_bytes, '\0');
  return text;
}

void put_sector(std::string& bytes, std::size_t sector, const std::string& text) {
  const std::size_t begin = sector * sector_bytes;
  if (bytes.size() < begin + sector_bytes) bytes.resize(begin + sector_bytes, '\0');
  bytes.replace(begin, sector_bytes, text);
}

/// What sectors hold is remembered only where a write changes it: a sector that is written as it
/// is on the platter cannot be torn.
void write_bytes(File& file, std::size_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t end = offset + bytes.size();
  if (file.seen.size() < end) {
    file.seen.resize(end, '\0');
    file.sizes.push_back(file.seen.size());
  }
  auto next = file.waiting.lower_bound(offset / sector_bytes);
  for (auto at = offset / sector_bytes; at * sector_bytes < end; ++at) {
    const std::size_t first = std::max(offset, at * sector_bytes);
    const std::string_view part =
        bytes.substr(first - offset, std::min(end, (at + 1) * sector_bytes) - first);
    if (next != file.waiting.end() && next->first == at)
      (next++)->second.push_back(sector_of(file.seen, at));
    else if (std::string_view(file.seen).substr(first, part.size()) == part)
      continue;
    else
      file.waiting.try_emplace(next, at);
    file.abandoned.erase(at);
    file.seen.replace(first, part.size(), part);
  }
}

void keep(File& file) {
  file.synced.resize(file.seen.size(), '\0');
  std::erase_if(file.waiting, [&](const auto& each) {
    if (file.abandoned.contains(each.first)) return false;
    if (const std::size_t begin = each.first * sector_bytes; begin < file.seen.size())
      file.seen.copy(file.synced.data() + begin, sector_bytes, begin);
    return true;
  });
  file.sizes.clear();
  file.named = true;
  file.promised = false;
}

/// What is left of a file when the power goes.
void lose(File& file, Loss loss, Random& random) {
  if (loss == Loss::some) {
    std::size_t size = file.synced.size();
    if (const auto pick = random.below(std::ssize(file.sizes) + 1); pick > 0)
      size = file.sizes[static_cast<std::size_t>(pick - 1)];
    for (const auto& [sector, older] : file.waiting) {
      const auto pick = static_cast<std::size_t>(random.below(std::ssize(older) + 2));
      if (pick > 0)
        put_sector(file.synced, sector,
                   pick > older.size() ? sector_of(file.seen, sector) : older[pick - 1]);
    }
    file.synced.resize(size, '\0');
  }
  file.seen = file.synced;
  file.waiting.clear();
  file.abandoned.clear();
  file.sizes.clear();
  file.promised = false;
}

/// How the connections to one file share it.
struct Sharing {
  int open = 0, shared = 0, mapped = 0;
  const void* reserved = nullptr;
  const void* pending = nullptr;
  const void* exclusive = nullptr;
  std::vector<std::unique_ptr<std::uint64_t[]>> regions;
  std::array<int, shm_locks> shm_shared{};
  std::array<const void*, shm_locks> shm_exclusive{};
};

}  // namespace

struct FaultyDisk::State {
  /// What SQLite holds of an open file.
  struct Handle {
    sqlite3_file base;
    State* state;
    const char* path;   ///< SQLite's, until the file is closed
    int lock;           ///< SQLITE_LOCK_...
    bool names_folder;  ///< its next sync keeps the names of the folder, too
    bool mapped;
    std::array<bool, shm_locks> shm_shared;

    [[nodiscard]] File& file() const { return state->image.files[path]; }
    [[nodiscard]] Sharing& sharing() const { return state->sharing[path]; }
  };

  State(FaultyDisk& owner, std::uint64_t seed) : disk(owner), random(seed) {}

  bool may_change() {
    if (!stopped && disk.before_change) disk.before_change();
    if (stopped) return false;
    ++changes;
    return true;
  }
  bool fails(double chance) {
    const bool yes = chance > 0 && random.uniform() < chance;
    failures += yes ? 1 : 0;
    return yes;
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = 0;
    for (const auto& [path, file] : image.files) all += file.seen.size();
    return all;
  }
  void work_again() {
    for (const auto& [path, shared] : sharing)
      SCHEDMATE_CHECK(shared.open == 0, "no file of the disk is open");
    sharing.clear();
    stopped = false;
  }
  void keep_names() {
    for (auto& [path, file] : image.files) file.named = true;
    image.deleted.clear();
  }
  [[nodiscard]] std::size_t part_of(std::size_t size) {
    return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(size)));
  }

  FaultyDisk& disk;
  Random random;
  std::string name;
  sqlite3_vfs vfs{};
  DiskImage image;
  std::map<std::string, Sharing> sharing;
  bool stopped = false;
  std::int64_t changes = 0, syncs = 0, failures = 0, losses = 0;

  // The file system's functions.
  static State& of(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }
  struct Asked {
    State* state;
    const char* path;
    int flags;
  };
  static int open(const Asked& asked, sqlite3_file* file, int* out);
  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder);
  static int access(sqlite3_vfs* vfs, const char* path, int flags, int* out);
  static int full_path(sqlite3_vfs* vfs, const char* path, int size, char* out);

  // Those of a file.
  static Handle& at(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static int close(sqlite3_file* file);
  static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset);
  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset);
  static int truncate(sqlite3_file* file, sqlite3_int64 size);
  static int sync(sqlite3_file* file, int flags);
  static int size(sqlite3_file* file, sqlite3_int64* out);
  static int lock(sqlite3_file* file, int level);
  static int unlock(sqlite3_file* file, int level);
  static int reserved(sqlite3_file* file, int* out);
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector(sqlite3_file*) { return static_cast<int>(sector_bytes); }
  static int character(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
  struct Region {
    int number, size;
    bool extend;
  };
  static int shm_map(sqlite3_file* file, const Region& wanted, void volatile** out);
  static int shm_lock(sqlite3_file* file, int first, int count, int flags);
  static void shm_barrier(sqlite3_file*) {}
  static int shm_unmap(sqlite3_file* file, int remove);

  static constexpr sqlite3_io_methods methods = {
      2,
      close,
      read,
      write,
      truncate,
      sync,
      size,
      lock,
      unlock,
      reserved,
      control,
      sector,
      character,
      [](sqlite3_file* file, int number, int size, int extend, void volatile** out) {
        return shm_map(file, {number, size, extend != 0}, out);
      },
      shm_lock,
      shm_barrier,
      shm_unmap,
      nullptr,
      nullptr};
};

int FaultyDisk::State::open(const Asked& asked, sqlite3_file* file, int* out) {
  State& state = *asked.state;
  auto& handle = at(file);
  handle.base.pMethods = nullptr;
  if (state.stopped || asked.path == nullptr) return SQLITE_IOERR;
  if (!state.image.files.contains(asked.path)) {
    if ((asked.flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    state.image.files[asked.path] = {};
  }
  const bool beside = (asked.flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  handle = {.base = {&methods},
            .state = &state,
            .path = asked.path,
            .lock = SQLITE_LOCK_NONE,
            .names_folder = beside,
            .mapped = false,
            .shm_shared = {}};
  ++handle.sharing().open;
  if (out != nullptr) *out = asked.flags;
  return SQLITE_OK;
}

int FaultyDisk::State::remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  State& state = of(vfs);
  if (!state.may_change()) return SQLITE_IOERR_DELETE;
  const auto found = state.image.files.find(path);
  if (found == state.image.files.end()) return SQLITE_IOERR_DELETE_NOENT;
  if (found->second.named) state.image.deleted[path] = std::move(found->second);
  state.image.files.erase(found);
  if (sync_folder != 0) state.keep_names();
  return SQLITE_OK;
}

int FaultyDisk::State::access(sqlite3_vfs* vfs, const char* path, int /*flags*/, int* out) {
  if (of(vfs).stopped) return SQLITE_IOERR_ACCESS;
  const auto found = of(vfs).image.files.find(path);
  *out = found != of(vfs).image.files.end() ? 1 : 0;
  return SQLITE_OK;
}

int FaultyDisk::State::full_path(sqlite3_vfs* /*vfs*/, const char* path, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", path);
  return SQLITE_OK;
}

int FaultyDisk::State::close(sqlite3_file* file) {
  Handle& handle = at(file);
  if (handle.mapped) shm_unmap(file, 0);
  unlock(file, SQLITE_LOCK_NONE);
  --handle.sharing().open;
  return SQLITE_OK;
}

int FaultyDisk::State::read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  const Handle& handle = at(file);
  if (handle.state->stopped) return SQLITE_IOERR_READ;
  const std::string& bytes = handle.file().seen;
  const auto wanted = static_cast<std::size_t>(size);
  const auto begin = std::min(static_cast<std::size_t>(offset), bytes.size());
  auto there = std::min(wanted, bytes.size() - begin);
  const bool failed = handle.state->fails(handle.state->disk.faults.read_error);
  if (failed) there /= 2;
  std::memset(out, 0, wanted);
  std::memcpy(out, bytes.data() + begin, there);
  if (failed) return SQLITE_IOERR_READ;
  return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int FaultyDisk::State::write(sqlite3_file* file, const void* bytes, int size,
                             sqlite3_int64 offset) {
  const Handle& handle = at(file);
  State& state = *handle.state;
  if (!state.may_change()) return SQLITE_IOERR_WRITE;
  const std::string_view all(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  const auto begin = static_cast<std::size_t>(offset);
  File& there = handle.file();
  if (state.fails(state.disk.faults.write_error)) {
    write_bytes(there, begin, all.substr(0, state.part_of(all.size())));
    return SQLITE_IOERR_WRITE;
  }
  const std::size_t end = std::max(there.seen.size(), begin + all.size());
  if (state.bytes() - there.seen.size() + end > state.disk.faults.capacity &&
      end > there.seen.size()) {
    ++state.failures;
    write_bytes(there, begin, all.substr(0, state.part_of(all.size())));
    return SQLITE_FULL;
  }
  write_bytes(there, begin, all);
  return SQLITE_OK;
}

int FaultyDisk::State::truncate(sqlite3_file* file, sqlite3_int64 size) {
  const Handle& handle = at(file);
  if (!handle.state->may_change()) return SQLITE_IOERR_TRUNCATE;
  File& there = handle.file();
  const auto end = static_cast<std::size_t>(size);
  // What lay behind the new end is zero should the file grow again.
  for (auto at = end / sector_bytes; at * sector_bytes < there.seen.size(); ++at) {
    if (const auto [found, fresh] = there.waiting.try_emplace(at); !fresh)
      found->second.push_back(sector_of(there.seen, at));
    there.abandoned.erase(at);
  }
  there.seen.resize(end, '\0');
  there.sizes.push_back(end);
  return SQLITE_OK;
}

int FaultyDisk::State::sync(sqlite3_file* file, int /*flags*/) {
  Handle& handle = at(file);
  State& state = *handle.state;
  if (!state.may_change()) return SQLITE_IOERR_FSYNC;
  ++state.syncs;
  File& there = handle.file();
  if (state.fails(state.disk.faults.sync_error)) {
    for (const auto& [sector, older] : there.waiting) there.abandoned.insert(sector);
    return SQLITE_IOERR_FSYNC;
  }
  if (state.fails(state.disk.faults.lost_sync)) {
    there.promised = true;
    return SQLITE_OK;
  }
  keep(there);
  if (std::exchange(handle.names_folder, false)) state.keep_names();
  return SQLITE_OK;
}

int FaultyDisk::State::size(sqlite3_file* file, sqlite3_int64* out) {
  if (at(file).state->stopped) return SQLITE_IOERR_FSTAT;
  *out = static_cast<sqlite3_int64>(at(file).file().seen.size());
  return SQLITE_OK;
}

int FaultyDisk::State::lock(sqlite3_file* file, int level) {
  Handle& handle = at(file);
  Sharing& sharing = handle.sharing();
  const auto of_another = [&](const void* holder) { return holder != nullptr && holder != file; };
  if (level <= handle.lock) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED) {
    if (of_another(sharing.pending) || of_another(sharing.exclusive)) return SQLITE_BUSY;
    ++sharing.shared;
  } else if (level == SQLITE_LOCK_RESERVED) {
    if (of_another(sharing.reserved)) return SQLITE_BUSY;
    sharing.reserved = file;
  } else {
    if (of_another(sharing.reserved) || of_another(sharing.pending)) return SQLITE_BUSY;
    sharing.pending = file;
    handle.lock = SQLITE_LOCK_PENDING;
    if (sharing.shared > 1) return SQLITE_BUSY;
    sharing.exclusive = file;
  }
  handle.lock = level;
  return SQLITE_OK;
}

int FaultyDisk::State::unlock(sqlite3_file* file, int level) {
  Handle& handle = at(file);
  Sharing& sharing = handle.sharing();
  if (level >= handle.lock) return SQLITE_OK;
  for (const void** holder : {&sharing.reserved, &sharing.pending, &sharing.exclusive})
    if (*holder == file) *holder = nullptr;
  if (level == SQLITE_LOCK_NONE) --sharing.shared;
  handle.lock = level;
  return SQLITE_OK;
}

int FaultyDisk::State::reserved(sqlite3_file* file, int* out) {
  const Sharing& sharing = at(file).sharing();
  *out = sharing.reserved != nullptr || sharing.pending != nullptr ? 1 : 0;
  return SQLITE_OK;
}

int FaultyDisk::State::shm_map(sqlite3_file* file, const Region& wanted, void volatile** out) {
  Handle& handle = at(file);
  Sharing& sharing = handle.sharing();
  *out = nullptr;
  if (handle.state->stopped) return SQLITE_IOERR_SHMMAP;
  if (!std::exchange(handle.mapped, true)) ++sharing.mapped;
  const auto count = static_cast<std::size_t>(wanted.number) + 1;
  if (sharing.regions.size() < count && !wanted.extend) return SQLITE_OK;
  const std::size_t words = static_cast<std::size_t>(wanted.size) / sizeof(std::uint64_t);
  while (sharing.regions.size() < count)
    sharing.regions.push_back(std::make_unique<std::uint64_t[]>(words));
  *out = sharing.regions[count - 1].get();
  return SQLITE_OK;
}

int FaultyDisk::State::shm_lock(sqlite3_file* file, int first, int count, int flags) {
  Handle& handle = at(file);
  Sharing& sharing = handle.sharing();
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const bool take = (flags & SQLITE_SHM_LOCK) != 0;
  for (auto i = static_cast<std::size_t>(first);
       take && i < static_cast<std::size_t>(first) + static_cast<std::size_t>(count); ++i) {
    const void* const holder = sharing.shm_exclusive.at(i);
    const int others = sharing.shm_shared.at(i) - (handle.shm_shared.at(i) ? 1 : 0);
    if ((holder != nullptr && holder != file) || (exclusive && others > 0)) return SQLITE_BUSY;
  }
  for (auto i = static_cast<std::size_t>(first);
       i < static_cast<std::size_t>(first) + static_cast<std::size_t>(count); ++i) {
    if (exclusive) {
      if (take || sharing.shm_exclusive.at(i) == file)
        sharing.shm_exclusive.at(i) = take ? file : nullptr;
    } else if (handle.shm_shared.at(i) != take) {
      handle.shm_shared.at(i) = take;
      sharing.shm_shared.at(i) += take ? 1 : -1;
    }
  }
  return SQLITE_OK;
}

int FaultyDisk::State::shm_unmap(sqlite3_file* file, int /*remove*/) {
  Handle& handle = at(file);
  if (!std::exchange(handle.mapped, false)) return SQLITE_OK;
  shm_lock(file, 0, shm_locks, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
  shm_lock(file, 0, shm_locks, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  if (--handle.sharing().mapped == 0) handle.sharing().regions.clear();
  return SQLITE_OK;
}

FaultyDisk::FaultyDisk(std::uint64_t seed) : state_(std::make_unique<State>(*this, seed)) {
  state_->name = fmt::format("faulty-disk-{}", static_cast<const void*>(state_.get()));
  sqlite3_vfs& vfs = state_->vfs;
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(State::Handle);
  vfs.mxPathname = longest_path;
  vfs.zName = state_->name.c_str();
  vfs.pAppData = state_.get();
  vfs.xOpen = [](sqlite3_vfs* self, const char* path, sqlite3_file* file, int flags, int* out) {
    return State::open({&State::of(self), path, flags}, file, out);
  };
  vfs.xDelete = State::remove;
  vfs.xAccess = State::access;
  vfs.xFullPathname = State::full_path;
  vfs.xSleep = [](sqlite3_vfs*, int microseconds) { return microseconds; };
  SCHEDMATE_CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK, "SQLite takes a file system");
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& FaultyDisk::vfs() const { return state_->name; }
void FaultyDisk::stop() { state_->stopped = true; }
const DiskImage& FaultyDisk::image() const { return state_->image; }
std::int64_t FaultyDisk::changes() const { return state_->changes; }
std::int64_t FaultyDisk::syncs() const { return state_->syncs; }
std::int64_t FaultyDisk::failures() const { return state_->failures; }
std::int64_t FaultyDisk::losses() const { return state_->losses; }

void FaultyDisk::restore(const DiskImage& image) {
  state_->work_again();
  state_->image = image;
}

void FaultyDisk::crash(Loss loss) {
  state_->work_again();
  if (loss == Loss::process) return;
  DiskImage& image = state_->image;
  Random& random = state_->random;
  const auto survives = [&](bool surely) {
    return surely || (loss == Loss::some && random.uniform() < 0.5);
  };
  const auto promised = [](const auto& each) { return each.second.promised; };
  if (std::ranges::any_of(image.files, promised) || std::ranges::any_of(image.deleted, promised))
    ++state_->losses;
  for (auto& [path, file] : image.files) lose(file, loss, random);
  std::erase_if(image.files, [&](const auto& each) { return !survives(each.second.named); });
  for (auto& [path, file] : image.deleted) {
    lose(file, loss, random);
    if (!image.files.contains(path) && !survives(false)) image.files[path] = std::move(file);
  }
  image.deleted.clear();
  for (auto& [path, file] : image.files) file.named = true;
}

}  // namespace schedmate::testing
