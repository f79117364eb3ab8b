// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One admitted request on its way through the threads: the carrier's thread that reads and writes,
/// whoever answers, and the door's thread that minds the deadlines.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "http/guard.hpp"
#include "http/peers.hpp"

namespace schedmate::http {

enum class Stage : std::uint8_t { body, answer, sending, stream };

/// How the carrier that holds a connection lets go of it and takes it up again.
struct Halt {
  void (*suspend)(void* connection);  ///< by its own thread
  void (*resume)(void* connection);   ///< by any thread
};

class Exchange {
 public:
  Exchange(Admitted admitted, PeerSlot slot, std::chrono::nanoseconds due)
      : admitted_(std::move(admitted)), slot_(std::move(slot)), due_(due) {}

  // The carrier's thread.
  void attach(void* connection, Halt halt);
  /// Whether this is the first call about it.
  [[nodiscard]] bool begin() { return !std::exchange(begun_, true); }
  void append(std::string_view bytes) { admitted_.request.body.append(bytes); }
  [[nodiscard]] Admitted& admitted() { return admitted_; }
  [[nodiscard]] const Admitted& admitted() const { return admitted_; }
  /// Waits for the answer from now on. False: there is one, or the server is ending.
  [[nodiscard]] bool await(std::chrono::nanoseconds due);
  /// The answer, once.
  [[nodiscard]] std::optional<Reply> take_reply();

  // Any thread.
  void enter(Stage stage, std::chrono::nanoseconds due);
  /// Whether a carrier has it.
  [[nodiscard]] bool is_attached() const { return attached_; }
  [[nodiscard]] Stage stage() const;
  /// The first reply counts; what comes later is dropped (false).
  bool answer(Reply reply);
  /// Nothing waits any more, now and later.
  void end();

  // The door's thread.
  /// The stage, when its deadline is over.
  [[nodiscard]] std::optional<Stage> overdue(std::chrono::nanoseconds now) const;

  // Streams.
  /// Called by the door: there may be something to send (`heartbeat`: there is).
  void wake(bool heartbeat);
  /// Called by the carrier when it has nothing to send: waits, unless it was woken meanwhile
  /// (false).
  [[nodiscard]] bool rest();
  [[nodiscard]] bool take_heartbeat();
  [[nodiscard]] bool is_ended() const { return ended_; }

 private:
  void resume();  ///< with the mutex held

  mutable std::mutex mutex_;
  Admitted admitted_;
  PeerSlot slot_;
  std::chrono::nanoseconds due_;
  Stage stage_ = Stage::body;
  std::optional<Reply> reply_;
  void* connection_ = nullptr;
  Halt halt_{};
  bool begun_ = false;
  bool answered_ = false;
  bool suspended_ = false;
  bool woken_ = false;
  bool heartbeat_ = false;
  std::atomic<bool> ended_{false};
  std::atomic<bool> attached_{false};
};

}  // namespace schedmate::http
