// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A file system in user space (FUSE) that stops answering, as a dead network share does: whoever
/// asks it then waits in the kernel, and not even SIGKILL ends him. Needs root and /dev/fuse.

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "base/descriptor.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

class HangingMount {
 public:
  /// `silent_from`: the first request that gets no answer (FUSE_LOOKUP, FUSE_OPEN, FUSE_READ); 0:
  /// not even the mount itself is answered.
  explicit HangingMount(std::uint32_t silent_from)
      : silent_from_(silent_from), device_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    const std::string options = "fd=" + std::to_string(device_.number()) +
                                ",rootmode=40755,user_id=0,group_id=0,allow_other";
    mounted_ = ::mount("schedmate-test", folder_.path().c_str(), "fuse", MS_NOSUID | MS_NODEV,
                       options.c_str()) == 0;
    server_ = std::jthread([this] { serve(); });
  }
  HangingMount(const HangingMount&) = delete;
  HangingMount& operator=(const HangingMount&) = delete;
  ~HangingMount() {
    stop_ = true;
    server_.join();
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
    device_.close();  // whoever waits gets an error now
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  /// A regular file of 1000 bytes; every name is one.
  [[nodiscard]] std::string file() const { return folder_.path("log"); }
  [[nodiscard]] std::string folder() const { return folder_.path(); }

 private:
  void serve() {
    std::array<char, 1 << 17> request{};
    while (!stop_) {
      pollfd ready{device_.number(), POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      const ssize_t size = ::read(device_.number(), request.data(), request.size());
      if (size < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
      fuse_in_header head{};
      std::memcpy(&head, request.data(), sizeof head);
      const bool silent = silent_from_ == 0 || head.opcode == silent_from_;
      if (!silent && head.opcode != FUSE_FORGET && head.opcode != FUSE_BATCH_FORGET) answer(head);
    }
  }

  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr attr{};
    attr.ino = node;
    attr.nlink = 1;
    attr.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644;
    attr.size = node == 1 ? 0 : 1000;
    return attr;
  }

  void answer(const fuse_in_header& head) {
    switch (head.opcode) {
      case FUSE_INIT: {
        fuse_init_out init{};
        init.major = FUSE_KERNEL_VERSION;
        init.minor = FUSE_KERNEL_MINOR_VERSION;
        init.max_write = 4096;
        return reply(head.unique, 0, init);
      }
      case FUSE_LOOKUP: {
        fuse_entry_out entry{};
        entry.nodeid = 2;
        entry.attr = attributes(2);
        return reply(head.unique, 0, entry);
      }
      case FUSE_GETATTR: {
        fuse_attr_out out{};
        out.attr = attributes(head.nodeid);
        return reply(head.unique, 0, out);
      }
      case FUSE_OPEN:
      case FUSE_OPENDIR:
        return reply(head.unique, 0, fuse_open_out{});
      case FUSE_STATFS:
        return reply(head.unique, 0, fuse_statfs_out{});
      default:
        return reply(head.unique, -ENOSYS, std::array<char, 0>{});
    }
  }

  template <class Body>
  void reply(std::uint64_t unique, int error, const Body& body) {
    std::array<char, sizeof(fuse_out_header) + sizeof(Body)> out{};
    const std::size_t size = sizeof(fuse_out_header) + (error == 0 ? sizeof(Body) : 0);
    fuse_out_header head{};
    head.len = static_cast<std::uint32_t>(size);
    head.error = error;
    head.unique = unique;
    std::memcpy(out.data(), &head, sizeof head);
    std::memcpy(out.data() + sizeof head, &body, sizeof body);
    static_cast<void>(::write(device_.number(), out.data(), size));
  }

  Scratch folder_;
  std::uint32_t silent_from_;
  Descriptor device_;
  bool mounted_ = false;
  std::atomic<bool> stop_ = false;
  std::jthread server_;
};

}  // namespace schedmate::testing
