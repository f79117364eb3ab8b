// SPDX-License-Identifier: Apache-2.0
#include "service/held_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/deadline.hpp"
#include "base/foreign_file.hpp"

namespace schedmate::service {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 16U;

/// A descriptor of its own for what is there already; none for the rest.
Result<Descriptor> open_pipe(const std::string& name) {
  const auto number = held_number(name);
  if (!number) return Descriptor();
  struct stat status{};
  Descriptor file(::fcntl(*number, F_DUPFD_CLOEXEC, 0));
  if (!file || ::fstat(file.number(), &status) != 0)
    return fail(ErrorCode::invalid,
                fmt::format("{}: nothing is open there; pipe a log in, or give a file", name));
  if (::isatty(file.number()) != 0)
    return fail(ErrorCode::invalid,
                fmt::format("{}: is a terminal; pipe a log in, or give a file", name));
  // A file is opened again, from its beginning.
  if (S_ISREG(status.st_mode) && name != "-") return Descriptor();
  return file;
}

Result<void> write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      return fail(ErrorCode::unavailable,
                  fmt::format("cannot hold what comes through the pipe: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

/// Copies until the end or the end of the budget; gives what was left out.
Result<std::string> copy(int from, int to, const HeldBudget& budget) {
  const Deadline deadline{budget.time};
  std::string piece(piece_bytes, '\0');
  std::size_t bytes = 0;
  while (bytes < budget.bytes) {
    if (!deadline.wait_readable(from))
      return fmt::format("the pipe did not end in {:.3g} s; what had come by then was read",
                         std::chrono::duration<double>(budget.time).count());
    const auto got = ::read(from, piece.data(), std::min(piece.size(), budget.bytes - bytes));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0)
      return fail(ErrorCode::invalid, fmt::format("cannot read: {}", std::strerror(errno)));
    if (got == 0) return "";
    bytes += static_cast<std::size_t>(got);
    if (auto done = write_all(to, std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
        !done)
      return tl::unexpected(done.error());
  }
  return fmt::format("only the first {} bytes were read", budget.bytes);
}

}  // namespace

Result<HeldInput> HeldInput::open(const std::string& name, const HeldBudget& budget) {
  HeldInput held;
  held.name_ = held.path_ = name;
  auto pipe = open_pipe(name);
  if (!pipe) return tl::unexpected(pipe.error());
  if (!*pipe) return held;
  held.file_ = Descriptor(::memfd_create("schedmate-input", MFD_CLOEXEC));
  if (!held.file_)
    return fail(ErrorCode::unavailable,
                fmt::format("{}: cannot be held: {}", name, std::strerror(errno)));
  auto note = copy(pipe->number(), held.file_.number(), budget);
  if (!note) return fail(note.error().code, fmt::format("{}: {}", name, note.error().message));
  if (!note->empty()) held.note_ = fmt::format("{}: {}", name, *note);
  held.path_ = fmt::format("/proc/self/fd/{}", held.file_.number());
  return held;
}

std::string HeldInput::named(std::string text) const {
  if (!is_held()) return text;
  for (auto at = text.find(path_); at != std::string::npos; at = text.find(path_, at)) {
    text.replace(at, path_.size(), name_);
    at += name_.size();
  }
  return text;
}

Result<HeldInputs> HeldInputs::open(const std::vector<std::string>& names) {
  HeldInputs inputs;
  for (const std::string& name : names) {
    auto path = inputs.hold(name);
    if (!path) return tl::unexpected(path.error());
    inputs.paths_.push_back(*std::move(path));
  }
  return inputs;
}

Result<std::string> HeldInputs::hold(const std::string& name) {
  const auto known = std::ranges::find(held_, name, &HeldInput::name);
  if (known != held_.end()) return known->path();
  auto held = HeldInput::open(name);
  if (!held) return tl::unexpected(held.error());
  held_.push_back(*std::move(held));
  return held_.back().path();
}

std::vector<std::string> HeldInputs::notes() const {
  std::vector<std::string> notes;
  for (const HeldInput& each : held_)
    if (!each.note().empty()) notes.push_back(each.note());
  return notes;
}

std::string HeldInputs::named(std::string text) const {
  for (const HeldInput& each : held_) text = each.named(std::move(text));
  return text;
}

}  // namespace schedmate::service
