// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/library_child.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "slurm_live/answer.hpp"
#include "slurm_live/module.hpp"

namespace schedmate::slurm_live {
namespace {

using Kind = LibraryAnswer::Kind;

constexpr int parent = 0;  ///< standard input

bool send(std::string_view frame) {
  while (!frame.empty()) {
    const auto sent = ::send(parent, frame.data(), frame.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    frame.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool tell(Kind kind, std::string_view text) {
  AnswerWriter writer(kind);
  if (!text.empty()) writer.put(text);
  return send(std::move(writer).finish());
}

/// Of the parent, which sends no more than one at a time; nothing: it is gone.
std::optional<std::string> next_line() {
  constexpr std::size_t longest = 100;
  std::array<char, longest> bytes{};
  std::string line;
  while (line.size() < longest) {
    const auto got = ::recv(parent, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    line.append(bytes.data(), static_cast<std::size_t>(got));
    if (!line.ends_with('\n')) continue;
    line.pop_back();
    return line;
  }
  return std::nullopt;
}

void take_value(void* whose, const char* name, const char* value) {
  auto& writer = *static_cast<AnswerWriter*>(whose);
  writer.put(name);
  writer.put(value);
}

/// False: the parent is gone, or asks what cannot be read.
bool answer(const SchedmateSlurm& slurm, std::string_view line) {
  const std::size_t blank = std::min(line.find(' '), line.size());
  const std::string_view what = line.substr(0, blank);
  const auto number =
      blank < line.size() ? parse_number<std::int64_t>(line.substr(blank + 1)) : std::nullopt;
  if (!number) return false;
  std::int64_t changed = *number;
  AnswerWriter values(Kind::news);
  int outcome = schedmate_slurm_failed;
  const bool with_orders = what.ends_with("_with_orders");
  if (what.starts_with("jobs"))
    outcome = slurm.jobs(&changed, with_orders ? 1 : 0, take_value, &values);
  else if (what.starts_with("job"))
    outcome =
        slurm.job(static_cast<std::uint32_t>(*number), with_orders ? 1 : 0, take_value, &values);
  else if (what == "nodes")
    outcome = slurm.nodes(&changed, take_value, &values);
  if (outcome == schedmate_slurm_unchanged) return tell(Kind::unchanged, "");
  if (outcome == schedmate_slurm_none) return tell(Kind::none, "");
  if (outcome != schedmate_slurm_news) return tell(Kind::failed, slurm.why());
  take_value(&values, last_update_name, fmt::format("{}", changed).c_str());
  return send(std::move(values).finish());
}

}  // namespace

int serve_library(const std::string& module) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // in a call of the library it would not see its parent end
  // Its plug-ins look for what it offers: not RTLD_LOCAL.
  void* const library = ::dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const symbol = library != nullptr ? ::dlsym(library, schedmate_slurm_symbol) : nullptr;
  if (symbol == nullptr) return tell(Kind::failed, ::dlerror()) ? 0 : 1;
  const SchedmateSlurm* const slurm = reinterpret_cast<SchedmateSlurmOffer>(symbol)();
  if (slurm->interface != schedmate_slurm_interface)
    return tell(Kind::failed, module + " is of another version of SchedMate") ? 0 : 1;
  slurm->begin();
  if (!tell(Kind::ready, slurm->version)) return 1;
  for (;;) {
    const auto line = next_line();
    if (!line || !answer(*slurm, *line)) return line ? 1 : 0;
  }
}

}  // namespace schedmate::slurm_live
