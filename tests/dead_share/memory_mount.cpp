// SPDX-License-Identifier: Apache-2.0
#include "tests/dead_share/memory_mount.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace schedmate::testing {
namespace {

constexpr std::uint32_t most_write = 1U << 16U;

template <class Body>
std::string_view bytes_of(const Body& body) {
  return {reinterpret_cast<const char*>(&body), sizeof body};
}

template <class Body>
Body body_of(std::string_view bytes) {
  Body body{};
  std::ranges::copy(bytes.substr(0, sizeof body), reinterpret_cast<char*>(&body));
  return body;
}

/// The name behind a fixed part.
std::string name_at(std::string_view body, std::size_t at) { return {body.data() + at}; }

}  // namespace

MemoryMount::MemoryMount(uid_t owner, bool locks)
    : owner_(owner), locks_(locks), device_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
  nodes_[1].mode = S_IFDIR | S_IRWXU;
  ::chmod(folder_.path().c_str(), 0755);
  const std::string options =
      "fd=" + std::to_string(device_.number()) + ",rootmode=40755,user_id=0,group_id=0,allow_other";
  mounted_ = ::mount("schedmate-test", folder_.path().c_str(), "fuse", MS_NOSUID | MS_NODEV,
                     options.c_str()) == 0;
  server_ = std::thread([this] { serve(); });
}

MemoryMount::~MemoryMount() {
  // Whoever waits gets an error now, also where a copy of the device is still open somewhere.
  if (mounted_) ::umount2(folder_.path().c_str(), MNT_FORCE);
  if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  stop_ = true;
  server_.join();
  device_.close();
}

void MemoryMount::serve() {
  std::vector<char> request(most_write + 4096);
  while (!stop_) {
    pollfd ready{device_.number(), POLLIN, 0};
    if (::poll(&ready, 1, 20) <= 0) continue;
    const ssize_t size = ::read(device_.number(), request.data(), request.size());
    if (size < 0 && errno == ENODEV) return;
    if (size < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
    fuse_in_header head{};
    std::memcpy(&head, request.data(), sizeof head);
    const bool wants_none = head.opcode == FUSE_FORGET || head.opcode == FUSE_BATCH_FORGET ||
                            head.opcode == FUSE_INTERRUPT;
    if (!wants_none) ++asked_;
    if (wants_none || silent_ == everything || silent_ == head.opcode || left_ == 0) continue;
    if (left_ > 0) --left_;
    answer(head, {request.data() + sizeof head, static_cast<std::size_t>(size) - sizeof head});
  }
}

void MemoryMount::reply(std::uint64_t unique, int error, std::string_view body) {
  fuse_out_header head{};
  head.len = static_cast<std::uint32_t>(sizeof head + body.size());
  head.error = -error;
  head.unique = unique;
  std::string out(bytes_of(head));
  out += body;
  static_cast<void>(::write(device_.number(), out.data(), out.size()));
}

fuse_attr MemoryMount::attributes(std::uint64_t node) {
  const Node& one = nodes_[node];
  fuse_attr attr{};
  attr.ino = node;
  attr.nlink = 1;
  attr.mode = one.mode;
  attr.size = one.bytes.size();
  attr.uid = owner_;
  attr.gid = owner_;
  return attr;
}

void MemoryMount::answer_entry(std::uint64_t unique, std::uint64_t node, bool opened) {
  fuse_entry_out entry{};
  entry.nodeid = node;
  entry.attr = attributes(node);
  std::string body(bytes_of(entry));
  if (opened) body += bytes_of(fuse_open_out{});
  reply(unique, body);
}

std::uint64_t MemoryMount::make(std::uint64_t parent, const std::string& name, mode_t mode) {
  nodes_[++last_].mode = mode;
  nodes_[parent].names[name] = last_;
  return last_;
}

void MemoryMount::answer(const fuse_in_header& head, std::string_view body) {
  switch (head.opcode) {
    case FUSE_INIT: {
      fuse_init_out init{};
      init.major = FUSE_KERNEL_VERSION;
      init.minor = FUSE_KERNEL_MINOR_VERSION;
      init.max_write = most_write;
      init.flags = FUSE_BIG_WRITES | (locks_ ? FUSE_POSIX_LOCKS : 0);
      return reply(head.unique, bytes_of(init));
    }
    case FUSE_STATFS:
      return reply(head.unique, bytes_of(fuse_statfs_out{}));
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      return reply(head.unique, bytes_of(fuse_open_out{}));
    case FUSE_GETLK: {
      fuse_lk_out out{};
      out.lk.type = F_UNLCK;
      return reply(head.unique, bytes_of(out));
    }
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_FSYNCDIR:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_SETLK:
    case FUSE_SETLKW:
      return reply(head.unique, "");
    case FUSE_READ:
    case FUSE_WRITE:
    case FUSE_GETATTR:
    case FUSE_SETATTR:
      return answer_bytes(head, body);
    case FUSE_READDIR:
      return answer_folder(head, body);
    default:
      return answer_names(head, body);
  }
}

void MemoryMount::answer_bytes(const fuse_in_header& head, std::string_view body) {
  Node& node = nodes_[head.nodeid];
  if (head.opcode == FUSE_READ) {
    const auto in = body_of<fuse_read_in>(body);
    const auto from = std::min<std::uint64_t>(in.offset, node.bytes.size());
    return reply(head.unique, std::string_view(node.bytes).substr(from, in.size));
  }
  if (head.opcode == FUSE_WRITE) {
    const auto in = body_of<fuse_write_in>(body);
    if (node.bytes.size() < in.offset + in.size) node.bytes.resize(in.offset + in.size);
    node.bytes.replace(in.offset, in.size, body.substr(sizeof in, in.size));
    fuse_write_out out{};
    out.size = in.size;
    return reply(head.unique, bytes_of(out));
  }
  if (head.opcode == FUSE_SETATTR) {
    const auto in = body_of<fuse_setattr_in>(body);
    if ((in.valid & FATTR_SIZE) != 0) node.bytes.resize(in.size);
    if ((in.valid & FATTR_MODE) != 0) node.mode = in.mode;
  }
  fuse_attr_out out{};
  out.attr = attributes(head.nodeid);
  reply(head.unique, bytes_of(out));
}

void MemoryMount::answer_names(const fuse_in_header& head, std::string_view body) {
  auto& names = nodes_[head.nodeid].names;
  if (head.opcode == FUSE_LOOKUP) {
    const auto found = names.find(name_at(body, 0));
    if (found == names.end()) return reply(head.unique, ENOENT);
    return answer_entry(head.unique, found->second, false);
  }
  if (head.opcode == FUSE_MKDIR) {
    const auto in = body_of<fuse_mkdir_in>(body);
    return answer_entry(head.unique, make(head.nodeid, name_at(body, sizeof in), S_IFDIR | in.mode),
                        false);
  }
  if (head.opcode == FUSE_CREATE) {
    const auto in = body_of<fuse_create_in>(body);
    return answer_entry(head.unique, make(head.nodeid, name_at(body, sizeof in), S_IFREG | in.mode),
                        true);
  }
  if (head.opcode == FUSE_UNLINK || head.opcode == FUSE_RMDIR) {
    return reply(head.unique, names.erase(name_at(body, 0)) == 0 ? ENOENT : 0);
  }
  if (head.opcode == FUSE_RENAME || head.opcode == FUSE_RENAME2) {
    const std::size_t fixed =
        head.opcode == FUSE_RENAME ? sizeof(fuse_rename_in) : sizeof(fuse_rename2_in);
    const std::string from = name_at(body, fixed);
    const std::uint64_t moved = names[from];
    names.erase(from);
    nodes_[body_of<fuse_rename_in>(body).newdir].names[name_at(body, fixed + from.size() + 1)] =
        moved;
    return reply(head.unique, "");
  }
  reply(head.unique, ENOSYS);
}

void MemoryMount::answer_folder(const fuse_in_header& head, std::string_view body) {
  const auto in = body_of<fuse_read_in>(body);
  std::string out;
  std::uint64_t at = 0;
  for (const auto& [name, node] : nodes_[head.nodeid].names) {
    if (at++ < in.offset) continue;
    fuse_dirent entry{};
    entry.ino = node;
    entry.off = at;
    entry.namelen = static_cast<std::uint32_t>(name.size());
    entry.type = S_ISDIR(nodes_[node].mode) ? DT_DIR : DT_REG;
    std::string one(reinterpret_cast<const char*>(&entry), FUSE_NAME_OFFSET);
    one += name;
    one.resize(FUSE_DIRENT_ALIGN(one.size()));
    if (out.size() + one.size() > in.size) break;
    out += one;
  }
  reply(head.unique, out);
}

}  // namespace schedmate::testing
