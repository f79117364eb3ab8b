// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One life of a daemon: the real loop and the real journal, and what carries out the loop's
/// effects. It can be killed before and after whatever it does.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "journal/journal.hpp"
#include "live/loop.hpp"
#include "tests/storm/book.hpp"
#include "tests/storm/faults.hpp"
#include "tests/storm/network.hpp"
#include "tests/storm/timeline.hpp"
#include "tests/support/faulty_disk.hpp"

namespace schedmate::storm {

class Daemon;

/// Where daemons live.
struct Site {
  Dice& dice;
  Timeline& timeline;
  Book& book;
  Network& network;
  testing::FaultyDisk& disk;
  Seconds clock_ahead{0};       ///< of the daemon's clock
  std::int64_t boundaries = 0;  ///< passed so far
  std::int64_t kill_at = -1;    ///< a boundary at which the daemon is killed for certain
  std::int64_t epoch = 0;       ///< the newest one that was taken
  std::uint64_t calls = 0;
  std::int64_t kills = 0, restarts = 0;
  std::int64_t stops = 0;      ///< lives that did not begin, or ended by themselves
  std::int64_t compacted = 0;  ///< rows
  std::function<void(Daemon&, const Sent&)> sending{};
  /// Before a batch is appended, before a compaction writes, and after a reading was taken that the
  /// loop has believed.
  std::function<void(Daemon&, const journal::Batch&)> recording{};
  std::function<void()> compacting{};
  std::function<void(Daemon&)> reading{};
  /// Slow work is asked for; it may answer by telling the daemon, while that is alive.
  std::function<void(const live::Study&, std::function<void(Result<live::Finding>)>)> studying{};
  std::function<void(Daemon&)> over{};  ///< killed, or stopped by itself
  [[nodiscard]] SimTime wall() const { return timeline.clock() + clock_ahead; }
};

struct Setup {
  live::LoopOptions options;
  journal::Rules rules{};
  std::int64_t most_bytes = 0;  ///< above which the journal is compacted; 0: it never is
};

class Daemon {
 public:
  Daemon(Site& site, int life) : site_(site), life_(life) {}
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() = default;

  /// Opens the journal and begins where the last one was. Errors: the journal's.
  Result<void> start(const Setup& setup);

  void tell(live::Event event);

  [[nodiscard]] int life() const { return life_; }
  [[nodiscard]] bool is_over() const { return over_; }
  [[nodiscard]] bool killed() const { return killed_; }
  [[nodiscard]] const live::Loop& loop() const { return *loop_; }
  [[nodiscard]] journal::Journal& journal() { return *journal_; }
  [[nodiscard]] const live::Modes& modes() const { return setup_.options.settings.modes; }
  /// The last that it was told of, and believed; null: none.
  [[nodiscard]] const Network::Shown& listing() const { return listing_; }
  void kill(std::string_view where);
  /// Its clock has jumped.
  void set_timer();

 private:
  /// Whether it ends here.
  bool ends_at(std::string_view boundary);
  void take(std::vector<live::Effect> effects);
  void pump();
  void carry_out(const live::Append& append);
  void carry_out(const live::MakeCall& call);
  void carry_out(const live::EndTest& /*end*/) {}  // tests here leave nothing
  void carry_out(const live::List& list);
  void carry_out(const live::Examine& examine);
  void carry_out(const live::Answer& answer);
  void carry_out(const live::Noted& /*noted*/) {}
  void carry_out(const live::Stop& stop);
  [[nodiscard]] Result<void> append(const journal::Batch& batch);
  void note_batch(const journal::Batch& batch);
  void compact();
  /// Changes the journal, and may be killed at one of the writes.
  struct Danger {
    Fault fault;
    double often;
    std::string_view where;
    std::function<void()> before{};  ///< the first write
  };
  void change(const Danger& danger, const std::function<void()>& change);
  void end();

  Site& site_;
  int life_;
  Setup setup_{};
  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<live::Loop> loop_;
  std::deque<live::Event> inbox_;
  std::deque<live::Effect> effects_;
  Network::Shown listing_;
  bool reading_ = false, pumping_ = false;
  bool over_ = false, killed_ = false;
  std::uint64_t timer_ = 0;
  Millis compact_at_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace schedmate::storm
