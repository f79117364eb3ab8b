// SPDX-License-Identifier: Apache-2.0
#include "face/sessions.hpp"

namespace schedmate::face {
namespace {

/// No address and no small number looks like one of a session, nor of a round.
constexpr std::uint64_t mark = std::uint64_t{0x5C4E'D3A7} << 32U;
constexpr std::uint64_t estimates_mark = std::uint64_t{0x4553'5449} << 32U;
constexpr std::uint64_t round_mark = std::uint64_t{0x504C'414E} << 32U;

/// Null where there is none.
template <class Pointer>
Pointer found_in(const std::map<std::uint64_t, Pointer>& all, std::uint64_t number) {
  const auto found = all.find(number);
  return found == all.end() ? nullptr : found->second;
}

/// The same, and it is no longer there. It ends where its last owner says, without the lock.
template <class Pointer>
Pointer taken_from(std::map<std::uint64_t, Pointer>& all, std::uint64_t number) {
  auto taken = all.extract(number);
  return taken.empty() ? nullptr : std::move(taken.mapped());
}

}  // namespace

OpenSession::OpenSession(const char* const* variables) {
  for (; variables != nullptr && *variables != nullptr; ++variables)
    words_.emplace_back(*variables);
  for (const std::string& word : words_) pointers_.push_back(word.c_str());
  pointers_.push_back(nullptr);
}

std::uint64_t Sessions::add(std::shared_ptr<const OpenSession> session) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = mark + ++count_;
  open_.emplace(number, std::move(session));
  return number;
}

std::shared_ptr<const OpenSession> Sessions::find(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  return found_in(open_, number);
}

bool Sessions::remove(std::uint64_t number) {
  std::shared_ptr<const OpenSession> last;
  {
    const std::scoped_lock lock(mutex_);
    last = taken_from(open_, number);
  }
  return last != nullptr;
}

std::uint64_t Sessions::add(std::shared_ptr<OpenEstimates> estimates) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = estimates_mark + ++count_;
  estimates_.emplace(number, std::move(estimates));
  return number;
}

std::shared_ptr<OpenEstimates> Sessions::estimates(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  return found_in(estimates_, number);
}

bool Sessions::remove_estimates(std::uint64_t number) {
  std::shared_ptr<OpenEstimates> last;
  {
    const std::scoped_lock lock(mutex_);
    last = taken_from(estimates_, number);
  }
  return last != nullptr;
}

std::uint64_t Sessions::open(Round& round) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = round_mark + ++count_;
  rounds_.emplace(number, &round);
  return number;
}

void Sessions::close(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  rounds_.erase(number);
}

Round* Sessions::round(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  Round* const found = found_in(rounds_, number);
  return found != nullptr && found->is_of_this_thread() ? found : nullptr;
}

char* Sessions::keep(std::string text, std::string message) {
  auto kept = std::make_unique<Reply>(Reply{std::move(text), std::move(message)});
  char* const reply = kept->text.data();
  const std::scoped_lock lock(mutex_);
  replies_.emplace(reply, std::move(kept));
  return reply;
}

const char* Sessions::message_of(const char* reply) {
  const std::scoped_lock lock(mutex_);
  const auto found = replies_.find(reply);
  if (found == replies_.end() || found->second->message.empty()) return nullptr;
  return found->second->message.c_str();
}

bool Sessions::free(const char* reply) {
  const std::scoped_lock lock(mutex_);
  return replies_.erase(reply) == 1;
}

}  // namespace schedmate::face
