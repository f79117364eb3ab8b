// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A share with its server in this process: files in memory, served through FUSE until the server
/// goes silent. Then whoever asks waits inside the kernel, and not even SIGKILL ends him, until the
/// mount goes. Needs root and /dev/fuse.

#include <linux/fuse.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "base/descriptor.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

class MemoryMount {
 public:
  /// Its folders and files belong to `owner`. With `locks` the server is asked for locks, too, and
  /// grants all of them; else this machine keeps them.
  explicit MemoryMount(uid_t owner = 0, bool locks = false);
  MemoryMount(const MemoryMount&) = delete;
  MemoryMount& operator=(const MemoryMount&) = delete;
  ~MemoryMount();

  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::string path(const std::string& name = "") const { return folder_.path(name); }
  /// Requests of this kind (FUSE_LOOKUP, FUSE_READ, ...) get no answer from now on; `everything`:
  /// no request does.
  void fall_silent(std::uint32_t opcode) { silent_ = opcode; }
  /// No request after so many more gets an answer.
  void fall_silent_after(int requests) { left_ = requests; }
  /// How many requests there were.
  [[nodiscard]] int asked() const { return asked_; }

  static constexpr std::uint32_t everything = 0;

 private:
  struct Node {
    mode_t mode = 0;
    std::string bytes;
    std::map<std::string, std::uint64_t> names;
  };
  static constexpr std::uint32_t nothing = ~0U;

  void serve();
  void answer(const fuse_in_header& head, std::string_view body);
  void answer_names(const fuse_in_header& head, std::string_view body);
  void answer_bytes(const fuse_in_header& head, std::string_view body);
  void answer_entry(std::uint64_t unique, std::uint64_t node, bool opened);
  void answer_folder(const fuse_in_header& head, std::string_view body);
  std::uint64_t make(std::uint64_t parent, const std::string& name, mode_t mode);
  [[nodiscard]] fuse_attr attributes(std::uint64_t node);
  void reply(std::uint64_t unique, std::string_view body) { reply(unique, 0, body); }
  void reply(std::uint64_t unique, int error, std::string_view body = "");

  testing::Scratch folder_;
  uid_t owner_;
  bool locks_;
  Descriptor device_;
  bool mounted_ = false;
  std::map<std::uint64_t, Node> nodes_;
  std::uint64_t last_ = 1;
  std::atomic<std::uint32_t> silent_ = nothing;
  std::atomic<int> left_ = -1;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread server_;
};

}  // namespace schedmate::testing
