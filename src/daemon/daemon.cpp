// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "base/hmac.hpp"
#include "base/own_files.hpp"
#include "daemon/answers.hpp"
#include "daemon/archive.hpp"
#include "daemon/arrival.hpp"
#include "daemon/cluster.hpp"
#include "daemon/fit.hpp"
#include "daemon/foresight.hpp"
#include "daemon/health.hpp"
#include "daemon/history.hpp"
#include "daemon/journal_past.hpp"
#include "daemon/keeping.hpp"
#include "daemon/kept_logs.hpp"
#include "daemon/look_door.hpp"
#include "daemon/memory.hpp"
#include "daemon/probe_desk.hpp"
#include "daemon/readings.hpp"
#include "daemon/record.hpp"
#include "daemon/requests.hpp"
#include "daemon/step_desk.hpp"
#include "daemon/studies.hpp"
#include "daemon/turns.hpp"
#include "daemon/worker.hpp"
#include "http/events.hpp"
#include "http/routes.hpp"
#include "http/server.hpp"
#include "page/page.hpp"

namespace schedmate::daemon {
namespace {

class Daemon {
 public:
  Daemon(const Configuration& configuration, const Surroundings& surroundings)
      : configuration_(configuration),
        surroundings_(surroundings),
        desk_(configuration.probe_secret, random_key()) {}

  Result<void> run() {
    if (auto made = make_own_folder(configuration_.state_dir); !made)
      return tl::unexpected(made.error());
    if (auto opened = record_.open(); !opened) return opened;
    events_ =
        std::make_shared<http::EventLog>(http::EventBounds{.first_id = record_.first_event()});
    const std::string own_user = surroundings_.user_name(::geteuid());
    auto cluster = reach_cluster(configuration_, surroundings_.clock, own_user);
    if (!cluster) return tl::unexpected(cluster.error());
    cluster_ = std::move(*cluster);
    for (const std::string& note : cluster_.notes) surroundings_.report(note);
    asked_.read_by(cluster_.script, cluster_.steps);
    now_ = cluster_.now;
    restore_uses(desk_.probes(), configuration_.state_dir);
    if (auto began = begin(); !began) return began;
    const auto port = configuration_.session.settings.whole("listen.look_port");
    if (auto opened = look_.open(port); !opened) return opened;
    if (auto opened = open_door(); !opened) return opened;
    surroundings_.ready();
    while (!surroundings_.stopped() && !failed_) turn();
    foresight_.stop();
    door_->stop();
    std::promise<void> kept;
    keeper_.ask(
        [keep = keeping(desk_.probes(), loop_->lives(), configuration_.state_dir), &kept, this] {
          if (has_past_) keep();
          kept.set_value();
        });
    kept.get_future().wait();
    surroundings_.report(summary_of(state()));
    if (failed_) return tl::unexpected(*failed_);
    return {};
  }

 private:
  /// A loop of what the journal holds, and of what was found of jobs.
  Result<void> begin() {
    const auto past = record_.past();
    if (!past) return tl::unexpected(past.error());
    live::LoopOptions options = configuration_.loop;
    options.settings.instance =
        fmt::format("{}.{}", options.settings.cluster, past->kept.at(instance_key));
    health_.lacks(fit_to(cluster_, Notices(configuration_.notices), options));
    options.poll = Seconds(0);
    desk_.answer(options, surroundings_.clock);
    texts_ = {};
    auto loop = std::make_unique<live::Loop>(std::move(options), *past, now_);
    if (std::exchange(has_past_, record_.lost().empty()))
      loop->recall(loop_->lives().all());
    else
      loop->recall(kept_lives(configuration_.state_dir, surroundings_.report));
    if (loop_ && loop_->counts().readings > 0) before_ = std::move(loop_);
    loop_ = std::move(loop);
    if (!record_.lost().empty()) loop_->only_look();
    ++loops_;
    over_ = false;  // this one has read nothing yet
    if (cluster_.remember)
      for (const auto& [id, attempt] : loop_->jobs().all())
        connector_.ask([this, job = attempt.seen] { cluster_.remember(job); });
    studies_.begin(loop_->jobs());
    if (loop_->ordering() != nullptr)
      foresight_.read_past(now_, [this, loop = loops_](std::vector<SeenJob> runs) {
        inbox_.put(PastRead{loop, std::move(runs)});
      });
    return {};
  }

  Result<void> open_door() {
    http::ServerOptions options = configuration_.http;
    options.clock = surroundings_.clock;
    options.user_name = surroundings_.user_name;
    options.events = events_;
    options.handler = [this, ui = configuration_.ui_folder](http::Request request,
                                                            http::Answer answer) {
      if (auto page = page::reply_to(request, ui)) return (void)answer(std::move(*page));
      auto shared = std::make_shared<http::Answer>(std::move(answer));
      if (request.route->name == http::RouteName::probe)
        hear(request, shared);
      else
        inbox_.put(Visit{std::move(request), std::move(shared)});
    };
    options.ready = [this] { return health_.readiness(); };
    options.metrics = [this] { return health_.metrics(); };
    auto door = http::Server::start(options);
    if (!door) return tl::unexpected(door.error());
    door_ = std::move(*door);
    return {};
  }

  void turn() {
    constexpr std::chrono::milliseconds longest{100};
    const auto within =
        visits_.empty() ? std::min(longest, configuration_.poll) : std::chrono::milliseconds(0);
    for (Arrival& arrival : inbox_.take(within))
      std::visit([&](auto& each) { take(each); }, arrival);
    if (may_change() || !health_.trouble().empty())
      for (Visit& visit : std::exchange(late_, {})) take(visit);
    serve();
    measure();
    if (late_.empty() && record_.lost().empty())  // what is known of jobs stays
      reloading_ = reloading_ || surroundings_.reload_asked();
    if (record_.try_again()) ++out_;
    if (failed_ || (reloading_ && out_ > 0)) return;
    if (std::exchange(reloading_, false)) return reload();
    if (cluster_.advance) {
      if (out_ == 0) go_on();
      return;
    }
    if (cluster_.wall) now_ = std::max(now_, cluster_.wall());
    if (look_.knocked()) pace_.ask();
    if (pace_.due(surroundings_.clock.now(), configuration_.poll, out_ == 0)) step(live::Ticked{});
  }

  /// Modes, caps, the policy and who is told; doors and the cluster stay as they are. With what
  /// cannot be read it goes on as before. What was seen is shown until the cluster is read again.
  void reload() {
    auto again = surroundings_.reload();
    if (!again)
      return surroundings_.report("goes on with the old settings: " + again.error().message);
    configuration_.loop = std::move(again->loop);
    configuration_.scheduler = std::move(again->scheduler);
    configuration_.notices = std::move(again->notices);
    configuration_.poll = again->poll;
    if (auto began = begin(); !began)
      failed_ = began.error();
    else
      surroundings_.report("has read its settings again");
  }

  [[nodiscard]] bool may_change() const { return !reloading_ && loop_->counts().readings > 0; }
  [[nodiscard]] const live::Loop& shown() const {
    return before_ && loop_->counts().readings == 0 ? *before_ : *loop_;
  }

  [[nodiscard]] State state() {
    return {shown(),
            texts_,
            history_,
            job_actions_,
            now_,
            journal::journal_path(configuration_.state_dir),
            foresight_.last(),
            foresight_.counts(),
            desk_.is_open() ? &desk_ : nullptr,
            seconds_of(surroundings_.clock.wall()),
            cluster_.abilities.lack(ActionKind::start).empty(),
            studies_.ends(),
            readings_.of_workers(),
            health_.trouble(),
            health_.stopped(),
            before_ ? loops_ - 1 : loops_};
  }
  void take(Foreseen& foreseen) {
    if (const std::string wrong = foresight_.take(std::move(foreseen.forecast)); !wrong.empty())
      surroundings_.report(wrong);
  }

  /// Twice a second, for whoever asks.
  void measure() {
    constexpr std::chrono::milliseconds often{500};
    const auto now = surroundings_.clock.now();
    if (now - measured_ < often) return;
    measured_ = now;
    texts_.keep_at_most(loop_->jobs().all().size());
    constexpr std::uint64_t seldom = 20, rarely = 120;
    if (++measures_ % seldom == 0) studies_.try_again();
    if (measures_ % rarely == 0 && has_past_) {
      desk_.probes().keep_only(loop_->jobs());
      keeper_.ask(keeping(desk_.probes(), loop_->lives(), configuration_.state_dir));
    }
    job_actions_.keep(loop_->jobs());
    health_.measured(metrics_of(state()));
    health_.stopped({record_.lost(), loop_->actions().doubt(), loop_->actions().foreign_mark()});
  }

  /// Where time waits for us: on to what happens next.
  void go_on() {
    if (over_ && loop_->next_wake() == never) return;
    const bool is_blind = !health_.is_heard() || !health_.trouble().empty();
    if (is_blind && surroundings_.clock.now() - last_tick_ < configuration_.poll) return;
    ++out_;
    connector_.ask([this, to = loop_->next_wake()] { inbox_.put(Advanced{cluster_.advance(to)}); });
  }

  void take(Advanced& advanced) {
    --out_;
    if (!advanced.time) {  // that it has a time is no sight of it: a reading is
      look(&advanced.time.error());
      last_tick_ = surroundings_.clock.now();
      return;
    }
    const bool is_new = advanced.time->now > now_ || !ticked_;
    over_ = advanced.time->next == never && !is_new && loop_->jobs().waiting() == 0;
    now_ = advanced.time->now;
    ticked_ = true;
    step(live::Ticked{});
  }

  void take(live::Event& event) {
    --out_;
    if (const auto* const listed = std::get_if<live::Listed>(&event)) {
      look(listed->listing ? nullptr : &listed->listing.error());
      if (listed->listing) now_ = std::max(now_, listed->listing->now);
    }
    // What was asked of the cluster may have begun something.
    if (std::holds_alternative<live::Returned>(event)) over_ = false;
    const std::uint64_t readings = loop_->counts().readings;
    step(event);
    const bool is_read = loop_->counts().readings > readings;
    if (!is_read) return;
    if (std::exchange(before_, nullptr)) texts_ = {};
    if (readings == 0) {  // jobs of an earlier run are not told again
      for (const auto& [id, attempt] : loop_->jobs().all())
        desk_.probes().follow(attempt.seen, now_);
      studies_.seen(loop_->jobs(), loop_->lives());
    }
    health_.heard();
    history_.note(*loop_, now_);
    const auto& host = cluster_.host;
    Listing& listing = *std::get<live::Listed>(event).listing;
    if (!foresight_.foresee(listing,
                            {host ? *host : configuration_.scheduler, cluster_.half_life, *loop_}))
      connector_.ask([listing = std::move(listing)] {});  // it is large: freed where there is time
  }

  /// Whether it sees the cluster, or why it does not. What changes is told once.
  void look(const Error* error) {
    if (!health_.look(error)) return;
    surroundings_.report(error != nullptr
                             ? "does not see the cluster; what it shows is old: " + error->message
                             : "sees the cluster again");
  }

  void take(PastRead& past) {
    if (past.loop == loops_) loop_->learn_past(past.runs);
  }
  void take(Learned& learned) {
    if (learned.loop == loops_) step(learned.studied);
  }
  void take(Visit& visit) {
    const std::string asker = visit.request.caller.user;
    visits_.put(asker, std::move(visit));
  }
  /// For a moment, so that whoever comes meanwhile has his turn soon.
  void serve() {
    constexpr std::chrono::milliseconds moment{2};
    const auto until = surroundings_.clock.now() + moment;
    while (surroundings_.clock.now() < until) {
      auto visit = visits_.next();
      if (!visit) return;
      answer(*visit);
    }
  }
  void answer(Visit& question) {
    if (shown().counts().readings == 0)
      return (void)(*question.answer)(http::busy_reply("the cluster has not been read yet"));
    if (is_reading(question.request))
      return readings_.take(question.request, question.answer, shown().jobs());
    const State state = this->state();
    if (archive_.take(question.request, question.answer, state)) return;
    if (question.request.route->effect == http::Effect::changes && !may_change()) {
      if (health_.trouble().empty()) return late_.push_back(std::move(question));
      return (void)(*question.answer)(http::busy_reply("the cluster does not answer"));
    }
    if (auto decision = decision_of(question.request)) {
      if (auto past = *decision ? past_decision(**decision, state) : std::nullopt)
        return (void)(*question.answer)(std::move(*past));
      return put(question, std::move(*decision));
    }
    if (auto request = request_of(question.request, state)) {
      if (const std::string lack = *request ? cluster_.abilities.lack((*request)->call.kind) : "";
          !lack.empty())
        *request = fail(ErrorCode::conflict, lack);
      return put(question, std::move(*request));
    }
    (*question.answer)(answer_to(question.request, state, events_));
  }

  /// To the loop, whose Answer is the reply.
  template <class Event>
  void put(const Visit& question, Result<Event> asked) {
    if (asked && !record_.lost().empty())
      asked = fail(ErrorCode::unavailable, "it could not be recorded: " + record_.lost());
    if (!asked) return (void)(*question.answer)(http::error_reply(asked.error()));
    asked->number = ++questions_;
    asking_[asked->number] = {question.answer, std::is_same_v<Event, live::Requested>};
    step(*asked);
  }

  /// A message of a probe, in a thread of the front door.
  void hear(const http::Request& request, const std::shared_ptr<http::Answer>& answer) {
    auto checked = desk_.check(request, seconds_of(surroundings_.clock.wall()));
    if (auto* const refused = std::get_if<http::Reply>(&checked))
      (*answer)(std::move(*refused));
    else
      inbox_.put(Reported{std::get<ProbeMessage>(std::move(checked)), answer});
  }

  void take(Reported& reported) {
    if (loop_->counts().readings == 0)
      return (void)(*reported.answer)(http::busy_reply("the cluster has not been read yet"));
    auto taken = desk_.take(reported.message, loop_->actions().nodes(),
                            {seconds_of(surroundings_.clock.wall()), now_});
    for (live::NodeWitness& witness : taken.witnesses) step(live::Witnessed{std::move(witness)});
    (*reported.answer)(std::move(taken.reply));
  }

  void step(const live::Event& event) {
    for (live::Effect& effect : loop_->step(event, now_))
      std::visit([&](auto& each) { carry_out(each); }, effect);
  }

  void carry_out(live::Append& append) {
    ++out_;
    record_.append(std::move(append.batch));
  }
  void carry_out(live::MakeCall& call) {
    ++out_;
    if (call.call.kind == ActionKind::notify)  // no cluster's work
      return notifier_.ask(
          [this, notices = Notices(configuration_.notices), call = std::move(call)] {
            inbox_.put(live::Event(live::Returned{call.action, notices.tell(call.call)}));
          });
    const live::Attempt* const job = loop_->jobs().find(call.call.job);
    if (call.call.kind == ActionKind::requeue_excluding && job != nullptr &&
        readings_.client() != nullptr && cluster_.truncates_logs)
      return logs_.keep(job->seen, *readings_.client(), [this, call] { make(call); });
    make(call);
  }
  /// Any thread.
  void make(const live::MakeCall& call) {
    connector_.ask([this, call] {
      inbox_.put(live::Event(live::Returned{
          call.action, cluster_.connector->call(call.call, deadline_of(call.call))}));
    });
  }
  void carry_out(live::EndTest& end) {
    connector_.ask([this, token = std::move(end.token)] {
      (void)cluster_.connector->end_test(token, call_deadline);
    });
  }
  void carry_out(live::List& list) {
    ++out_;
    connector_.ask([this, list] {
      inbox_.put(live::Event(
          live::Listed{list.number, cluster_.connector->list(list.ended_since, call_deadline)}));
      give_back_memory();  // the first one is large
    });
  }
  void carry_out(live::Examine& examine) {
    asked_.make(loops_, std::move(examine.study), readings_.asker());
  }
  void carry_out(live::Answer& answer) {
    const auto found = asking_.find(answer.number);
    if (found == asking_.end()) return;
    const State state = this->state();
    const auto& [reply, is_request] = found->second;
    (*reply)(!answer.result ? http::error_reply(answer.result.error())
             : is_request   ? requested_reply(answer, state)
                            : action_reply(*answer.result, state));
    asking_.erase(found);
  }
  void carry_out(live::Noted& noted) {
    const State state = this->state();
    if (noted.what == live::Noted::What::job) texts_.forget(noted.id);
    if (!noted.job.empty()) job_actions_.note(noted.job, std::stoll(noted.id));
    const live::Attempt* const attempt =
        noted.what == live::Noted::What::job ? loop_->jobs().find(noted.id) : nullptr;
    if (attempt != nullptr) {
      desk_.probes().follow(attempt->seen, now_);
      if (noted.change == live::Change::Kind::ended) foresight_.ended(attempt->seen);
      if (attempt->seen.phase == JobPhase::ended)
        studies_.remember(*attempt, loop_->lives().find(noted.id),
                          desk_.probes().use_of(attempt->seen));
      if (noted.change == live::Change::Kind::started) foresight_.started(attempt->seen);
    }
    if (noted.change == live::Change::Kind::vanished) desk_.probes().forget(noted.id);
    if (!health_.is_heard()) return;  // whoever comes later is told to read everything
    if (auto event = event_of(noted, state)) events_->publish(std::move(*event));
  }
  /// Crash-only: what the journal holds decides how it goes on, once it can be written.
  void carry_out(live::Stop& stop) {
    for (const auto& [number, asker] : asking_)
      (*asker.answer)(
          http::error_reply(Error{ErrorCode::unavailable, "it could not be recorded; ask again"}));
    asking_.clear();
    if (auto lost = record_.lose(stop.error); !lost) failed_ = lost.error();
  }
  void take(Reopened& reopened) {
    --out_;
    auto taken = record_.take(reopened);
    if (record_.lost().empty()) taken = begin();
    if (!taken) failed_ = taken.error();
  }

  Configuration configuration_;
  const Surroundings& surroundings_;
  Cluster cluster_;
  Health health_;  // before the door, whose threads read it
  std::shared_ptr<http::EventLog> events_;
  ProbeDesk desk_;                             // before the door, whose threads check proofs here
  std::unique_ptr<live::Loop> loop_, before_;  // that one is shown until this one has read
  Inbox<Arrival> inbox_;
  std::unique_ptr<http::Server> door_;
  struct Asker {
    std::shared_ptr<http::Answer> answer;
    bool is_request = false;
  };
  std::map<std::uint64_t, Asker> asking_;
  std::uint64_t questions_ = 0, measures_ = 0, loops_ = 0;
  SimTime now_;
  std::size_t out_ = 0;  // effects whose events are still to come
  bool over_ = false, ticked_ = false;
  bool has_past_ = false;   // the loop was made of what the journal holds
  bool reloading_ = false;  // once what is out has come back
  Turns<Visit> visits_;
  std::vector<Visit> late_;  // who would change something, until it is reloaded and has read
  JobTexts texts_;
  ClusterHistory history_;
  JobActions job_actions_;
  std::chrono::nanoseconds last_tick_{}, measured_{};
  LookDoor look_;
  Pace pace_;
  std::optional<Error> failed_;
  Worker connector_, notifier_, keeper_;  // they use what stands above, as do those below
  Record record_{
      {.path = journal::journal_path(configuration_.state_dir), .instance = configuration_.writer},
      surroundings_.clock,
      {[this](Arrival arrival) { inbox_.put(std::move(arrival)); }, surroundings_.report}};
  Foresight foresight_{surroundings_.clock, configuration_.session,
                       [this](Result<Forecast> made) { inbox_.put(Foreseen{std::move(made)}); }};
  Studies studies_{configuration_.session,
                   [this](auto loop, auto made) { inbox_.put(Learned{loop, std::move(made)}); },
                   surroundings_.report};
  KeptLogs logs_{configuration_.state_dir};
  Readings readings_{configuration_.reader, configuration_.session, studies_, surroundings_.report};
  StepDesk asked_{studies_, configuration_.session};
  Archive archive_{configuration_.session, journal::journal_path(configuration_.state_dir)};
};

}  // namespace

Result<void> run(const Configuration& configuration, const Surroundings& surroundings) {
  let_large_buffers_go();
  return Daemon(configuration, surroundings).run();
}

}  // namespace schedmate::daemon
