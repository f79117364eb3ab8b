// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/storm.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/storm/daemon.hpp"
#include "tests/storm/inspector.hpp"
#include "tests/storm/model_cluster.hpp"
#include "tests/storm/network.hpp"
#include "tests/storm/people.hpp"
#include "tests/storm/scenario.hpp"

namespace schedmate::storm {
namespace {

class Storm {
 public:
  explicit Storm(const Options& options)
      : options_(options),
        dice_(options.seed, options.faults),
        scenario_(scenario_of(dice_)),
        book_(options.trace),
        cluster_(scenario_.cluster, timeline_, book_),
        network_(dice_, timeline_, book_, cluster_),
        disk_(mix(options.seed)),
        site_{dice_, timeline_, book_, network_, disk_},
        people_({dice_, timeline_, book_, cluster_, site_, [this] { return newest(); },
                 scenario_.options.settings.waits.witness_age}),
        inspector_(site_, book_, cluster_, settings()),
        random_(dice_.stream("storm")) {
    site_.kill_at = options.kill_at;
    if (options.until) scenario_.until = std::min(scenario_.until, *options.until);
  }

  Outcome run();

 private:
  [[nodiscard]] live::Settings settings() const {
    live::Settings made = scenario_.options.settings;
    made.rules = options_.rules;
    return made;
  }
  [[nodiscard]] Daemon* newest() {
    return daemons_.empty() || daemons_.back()->is_over() ? nullptr : daemons_.back().get();
  }
  void break_disk();
  void beat();
  void calm();
  void settle();
  void start();
  void start_in(Millis delay);
  void over(Daemon& daemon);
  void bury();
  void lose_journal();
  void move_away_damaged();
  void advance(Millis until);

  Options options_;
  Timeline timeline_;
  Dice dice_;
  Scenario scenario_;
  Book book_;
  ModelCluster cluster_;
  Network network_;
  testing::FaultyDisk disk_;
  Site site_;
  People people_;
  Inspector inspector_;
  Random random_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  int lives_ = 0, to_start_ = 0;
  bool calm_ = false;
  std::int64_t steps_ = 0;
};

void Storm::advance(Millis until) {
  constexpr std::int64_t most_steps = 300'000;
  while (!book_.violation && timeline_.step(until)) {
    inspector_.look();
    if (++steps_ > most_steps)
      book_.accuse(timeline_.now(), "busy", "the loop asks for far more than happens");
  }
}

void Storm::break_disk() {
  constexpr double often = 0.02;
  disk_.faults = {.sync_error = often * dice_.rate(Fault::sync_error),
                  .lost_sync = 0.5 * dice_.rate(Fault::lost_sync),
                  .write_error = often * dice_.rate(Fault::write_error),
                  .read_error = often * dice_.rate(Fault::read_error)};
}

/// Every few seconds of the storm.
void Storm::beat() {
  if (calm_) return;
  people_.submit_jobs();
  cluster_.schedule();
  people_.act();
  if (dice_.strikes(Fault::disk_full, 0.01)) {
    disk_.faults.capacity = 20'000;
    book_.note(timeline_.now(), "disk     is full");
    timeline_.in(dice_.of(Fault::disk_full).between(1'000, 60'000),
                 [this] { disk_.faults.capacity = testing::DiskFaults().capacity; });
  }
  if (dice_.strikes(Fault::rival, 0.02) && daemons_.size() == 1 && newest() != nullptr) {
    book_.note(timeline_.now(), "a second daemon is started");
    start();
  }
  const auto jump = [&](Fault fault, int sign) {
    if (!dice_.strikes(fault, 0.02)) return;
    constexpr std::int64_t furthest = 60;
    book_.clock_jumped = true;
    site_.clock_ahead += Seconds(sign * dice_.of(fault).between(1, furthest));
    site_.clock_ahead =
        std::clamp(site_.clock_ahead, -Seconds(2 * furthest), Seconds(2 * furthest));
    book_.note(timeline_.now(), "the daemon's clock is {} s ahead now", site_.clock_ahead.count());
    for (const auto& daemon : daemons_)
      if (!daemon->is_over()) daemon->set_timer();
  };
  jump(Fault::clock_forward, 1);
  jump(Fault::clock_back, -1);
  timeline_.in(random_.between(2'000, 8'000), [this] { beat(); });
}

void Storm::start_in(Millis delay) {
  ++to_start_;
  timeline_.in(delay, [this] {
    --to_start_;
    if (newest() == nullptr) start();
  });
}

void Storm::start() {
  ++lives_;
  ++site_.restarts;
  move_away_damaged();
  Setup setup{.options = scenario_.options,
              .rules = options_.journal_rules,
              .most_bytes = scenario_.most_bytes};
  setup.options.settings = settings();
  if (lives_ > 1 && dice_.strikes(Fault::new_modes, 0.7)) {
    scenario_.options.settings.modes = random_modes(dice_.of(Fault::new_modes));
    setup.options.settings.modes = scenario_.options.settings.modes;
  }
  auto daemon = std::make_unique<Daemon>(site_, lives_);
  const auto started = daemon->start(setup);
  book_.note(timeline_.now(), "daemon {} {}", lives_,
             started ? "starts" : "cannot start: " + started.error().message);
  if (!started) {
    daemon.reset();
    ++site_.stops;
    if (daemons_.empty()) start_in(random_.between(1'000, 10'000));
    return;
  }
  daemons_.push_back(std::move(daemon));
}

/// What is over is buried at once, but not from within.
void Storm::over(Daemon& /*daemon*/) {
  timeline_.in(0, [this] { bury(); });
}

void Storm::bury() {
  const bool killed =
      std::ranges::any_of(daemons_, [](const auto& daemon) { return daemon->killed(); });
  if (killed) {  // whoever else is there goes, too
    daemons_.clear();
    testing::Loss loss = testing::Loss::process;
    if (dice_.strikes(Fault::power_cut, 1)) loss = testing::Loss::all;
    if (dice_.strikes(Fault::torn_writes, 1)) loss = testing::Loss::some;
    if (loss != testing::Loss::process) book_.note(timeline_.now(), "the power goes");
    const std::int64_t losses = disk_.losses();
    disk_.crash(loss);
    if (disk_.losses() > losses) {
      site_.stops = 0;
      lose_journal();
    }
  } else {
    std::erase_if(daemons_, [](const auto& daemon) { return daemon->is_over(); });
  }
  if (!daemons_.empty()) return;
  Millis delay = random_.between(500, 15'000);
  if (dice_.strikes(Fault::long_absence, 0.5))
    delay = dice_.of(Fault::long_absence).between(30'000, 900'000);
  if (to_start_ == 0) start_in(delay);
}

/// After a disk has lied, once no daemon can work with the journal: what its errors ask for.
void Storm::move_away_damaged() {
  constexpr std::int64_t enough = 3;
  if (disk_.losses() == 0 || site_.stops < enough || !daemons_.empty()) return;
  site_.stops = 0;
  book_.note(timeline_.now(), "operator moves the damaged journal away");
  disk_.restore({});
  lose_journal();
}

/// It is an earlier one from here on, a damaged one, or none.
void Storm::lose_journal() {
  book_.note(timeline_.now(), "the disk has lost what it said it kept");
  site_.epoch = 0;
  inspector_.forget_journal();
}

void Storm::calm() {
  calm_ = true;
  dice_.calm();
  disk_.faults = {};
  people_.tidy_up();
  book_.note(timeline_.now(), "the storm is over");
}

/// All that is open comes to its end within a time that follows from the settings.
void Storm::settle() {
  const live::Waits& waits = scenario_.options.settings.waits;
  constexpr Seconds pause{120}, more_time{300};
  const Seconds bound = waits.approval + waits.hold + waits.breaker_quiet + 8 * waits.outcome +
                        4 * waits.test + cluster_.work(pause) + more_time;
  constexpr Millis look_every = 10'000;
  std::string why = "no daemon runs";
  for (Millis left = millis_of(bound); left > 0 && !book_.violation; left -= look_every) {
    advance(timeline_.now() + look_every);
    cluster_.schedule();
    if (Daemon* const daemon = newest(); daemon != nullptr) {
      if (scenario_.undo_all) people_.undo_one();
      // Pools ask again and again.
      const live::Modes& modes = daemon->modes();
      if (scenario_.options.pool && (modes.order == Mode::approve || modes.pack == Mode::approve))
        people_.approve_all();
      why = inspector_.unsettled(*daemon);
      if (why.empty()) break;
    }
  }
  if (book_.violation) return;
  if (!why.empty())
    return book_.accuse(timeline_.now(), "settles",
                        fmt::format("{} s after the last fault: {}", bound.count(), why));
  // Packings go on where the order is in shadow: the last end must have been read, and by a daemon
  // that was not killed since.
  const auto moves = [this] {
    return cluster_.ended_within(Seconds(30)) || newest() == nullptr ||
           !inspector_.unsettled(*newest()).empty();
  };
  constexpr Millis more = 45'000;
  constexpr int most_pauses = 20;
  for (int i = 0; i == 0 || (i < most_pauses && moves()); ++i) advance(timeline_.now() + more);
  if (!book_.violation && newest() != nullptr) inspector_.at_end(*newest());
}

Outcome Storm::run() {
  site_.sending = [this](Daemon& daemon, const Sent& sent) { inspector_.sending(daemon, sent); };
  site_.recording = [this](Daemon& daemon, const journal::Batch& batch) {
    inspector_.recording(daemon, batch);
  };
  site_.reading = [this](const Daemon& daemon) { inspector_.reading(daemon); };
  site_.compacting = [this] { (void)inspector_.archive(); };
  constexpr Seconds enough{900};
  if (scenario_.cluster.remembers >= enough && !dice_.on(Fault::long_absence) &&
      !dice_.on(Fault::new_modes) && scenario_.options.settings.modes.notify != Mode::observe)
    inspector_.expect_answers();
  site_.studying = [this](const live::Study& study, auto answer) {
    people_.study(study, std::move(answer));
  };
  site_.over = [this](Daemon& daemon) { over(daemon); };
  book_.note(0, "{}", text_of(scenario_));
  const FaultSet drawn = dice_.drawn();
  for (int i = 0; i < 4; ++i) people_.submit_jobs();
  break_disk();
  start_in(1);
  timeline_.in(100, [this] { beat(); });
  advance(millis_of(scenario_.until));
  if (!book_.violation) calm();
  if (daemons_.empty() && to_start_ == 0) start_in(1);
  if (!book_.violation) settle();
  daemons_.clear();
  return {.violation = book_.violation,
          .trace = std::move(book_.trace),
          .world = text_of(scenario_),
          .drawn = drawn,
          .until = scenario_.until,
          .boundaries = site_.boundaries,
          .kills = site_.kills,
          .restarts = site_.restarts,
          .calls = std::ssize(book_.sent),
          .compacted = site_.compacted,
          .losses = disk_.losses(),
          .tests = std::ssize(book_.tests),
          .halves = book_.halves,
          .found = book_.found,
          .hangs = book_.hangs,
          .restarted = book_.restarted};
}

}  // namespace

Outcome run(const Options& options) { return Storm(options).run(); }

}  // namespace schedmate::storm
