// SPDX-License-Identifier: Apache-2.0

/// The reader with children that are rubbish, crash, hang, flood, breed and flee: each is an error
/// of its own request, and nobody else's.

#include <doctest/doctest.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/unix_socket.hpp"
#include "reader/client.hpp"
#include "reader/rights.hpp"
#include "reader/server.hpp"
#include "settings/clock.hpp"
#include "tests/support/need.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::reader {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::need;

// Not those of users_test.py or of a second run of this, which may run beside it.
const uid_t ann = 1'900'000'000 + 4 * static_cast<uid_t>(::getpid());
const uid_t bob = ann + 1, own_user = ann + 2;

volatile std::sig_atomic_t stop_now = 0;

/// As the unit starts it: a user of its own, who may become others and nothing else.
bool be_own_user() {
  constexpr unsigned both = 1U << CAP_SETUID | 1U << CAP_SETGID;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> held{{{both, both, both}, {0, 0, 0}}};
  constexpr gid_t others = 20009;
  const auto keep = [](unsigned long capability) {
    return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0;
  };
  return ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && ::setgroups(1, &others) == 0 &&
         ::setresgid(own_user, own_user, own_user) == 0 &&
         ::setresuid(own_user, own_user, own_user) == 0 &&
         ::syscall(SYS_capset, &header, held.data()) == 0 && keep(CAP_SETUID) && keep(CAP_SETGID);
}

struct Habits {
  seconds deadline{200};  ///< that no child reaches but one that hangs
  milliseconds cpu_per_minute{60'000};
  bool as_unit = false;  ///< with the rights of its unit, instead of root's
  AskModel model{};
};

/// A reader in a process of its own, whose children are hostile.
class HostileHouse {
 public:
  explicit HostileHouse(const Habits& habits = {}) {
    std::filesystem::permissions(folder_.path(""), std::filesystem::perms::all);
    number_ = ::fork();
    if (number_ == 0) be_reader(habits);
    client_ = std::make_unique<Client>(ClientOptions{.socket = path_,
                                                     .deadline = habits.deadline + seconds(20),
                                                     .clock = settings::machine_clock(),
                                                     .model = habits.model});
    testing::soon([this] { return connect_to(path_).has_value(); });
  }
  HostileHouse(const HostileHouse&) = delete;
  HostileHouse& operator=(const HostileHouse&) = delete;
  ~HostileHouse() {
    ::kill(number_, SIGTERM);
    int status = 0;
    CHECK(::waitpid(number_, &status, 0) == number_);
    CHECK_MESSAGE(status == (killed_ ? SIGKILL : 0), "the reader itself has ended well");
  }
  void kill() { killed_ = ::kill(number_, SIGKILL) == 0; }
  [[nodiscard]] Client& client() { return *client_; }
  [[nodiscard]] Result<Document> ask(uid_t user, const std::string& what) {
    return client_->ask({.what = What::tail, .user = std::to_string(user), .logs = {"/" + what}});
  }

 private:
  [[noreturn]] void be_reader(const Habits& habits) const {
    ::signal(SIGTERM, [](int) { stop_now = 1; });
    if (habits.as_unit && !be_own_user()) ::_exit(2);
    constexpr gid_t group = 20009;  // of the reader, and of no child
    if (!habits.as_unit && ::geteuid() == 0 && ::setgroups(1, &group) != 0) ::_exit(2);
    ServeOptions options;
    options.quotas.deadline = options.limits.wall = habits.deadline;
    options.quotas.cpu_per_minute = habits.cpu_per_minute;
    options.limits.cpu = seconds(1);
    options.limits.processes = 40;
    options.limits.least_user = 0;
    options.program = HOSTILE_CHILD;
    options.clock = settings::machine_clock();
    options.stopped = [] { return stop_now != 0; };
    const auto door = open_door(path_, std::nullopt);
    const bool fine = door && serve(*door, options) && own_children().size() < 40;
    ::_exit(fine ? 0 : 1);
  }
  testing::Scratch folder_;
  std::string path_ = folder_.path("reader.sock");
  pid_t number_ = -1;
  bool killed_ = false;
  std::unique_ptr<Client> client_;
};

std::size_t processes_of(uid_t user) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    struct stat status{};
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos &&
        ::stat(entry.path().c_str(), &status) == 0 && status.st_uid == user)
      ++count;
  }
  return count;
}

bool none_is_left_of(uid_t user) {
  return testing::soon([=] { return processes_of(user) == 0; });
}

}  // namespace

TEST_CASE("whatever a child does is one error of its request") {
  struct Case {
    const char* what;
    ErrorCode code;
    const char* says;
  };
  HostileHouse house;
  HostileHouse hasty({.deadline = seconds(2)});
  const uid_t me = ::geteuid();
  for (const auto& [what, code, says] : {
           Case{"rubbish", ErrorCode::bad_reply, "no JSON object"},
           Case{"two lines", ErrorCode::bad_reply, "no answer"},
           Case{"half", ErrorCode::bad_reply, "no answer"},
           Case{"forged", ErrorCode::bad_reply, "no JSON object"},
           Case{"flood", ErrorCode::bad_reply, "more than 4 MiB"},
           Case{"crash", ErrorCode::bad_reply, "signal 6"},
           Case{"silence", ErrorCode::bad_reply, "no answer"},
           Case{"hang", ErrorCode::timeout, "more than 2000 ms"},
           Case{"closed", ErrorCode::bad_reply, "gave no answer"},
           Case{"spin", ErrorCode::timeout, "more than"},
       }) {
    const bool hangs = std::string_view(what) == "hang";
    const auto answer = (hangs ? hasty : house).ask(me, what);
    REQUIRE_MESSAGE(!answer, what);
    CHECK_MESSAGE(answer.error().code == code, what << ": " << answer.error().message);
    CHECK_MESSAGE(answer.error().message.contains(says), what << ": " << answer.error().message);
    CHECK(need(house.ask(me, "fine"))["fine"] == true);
  }
}

TEST_CASE("a child that asks a model hears the answer, and is one of its user whatever it writes") {
  std::vector<Question> seen;
  HostileHouse house(
      {.model = [&](const Question& question, const std::function<void(std::string)>& give) {
        seen.push_back(question);
        give("to: " + question.text);
      }});
  const uid_t me = ::geteuid();
  CHECK(need(house.ask(me, "asks once"))["heard"] == "to: question");
  CHECK(need(house.ask(me, "asks forged"))["heard"] == "to: ");
  CHECK(need(house.ask(me, "asks deaf"))["fine"] == true);
  for (const char* what : {"asks twice", "asks lines", "asks much", "asks always"}) {
    const auto answer = house.ask(me, what);
    REQUIRE_MESSAGE(!answer, what);
    CHECK_MESSAGE(answer.error().message == "the process that read asks a model too much", what);
  }
  CHECK(need(house.ask(me, "fine"))["fine"] == true);
  CHECK(seen.size() < 110);
  for (const Question& each : seen) {
    CHECK(each.head.user == me);
    CHECK(each.head.within <= seconds(150));  // three quarters of what it has
  }
}

TEST_CASE("no answer of a model, or none in time, is one that the child hears") {
  // A quarter of its time is left to it then.
  HostileHouse silent({.deadline = seconds(12),
                       .model = [](const Question&, const std::function<void(std::string)>&) {}});
  const uid_t me = ::geteuid();
  CHECK(need(silent.ask(me, "asks once"))["heard"].get<std::string>().contains("time of this"));
  HostileHouse none;
  CHECK(need(none.ask(me, "asks once"))["heard"].get<std::string>().contains("no model is asked"));
  HostileHouse large({.model = [](const Question&, const std::function<void(std::string)>& give) {
    give(std::string(std::size_t{1} << 20U, 'x'));
  }});
  CHECK(need(large.ask(me, "asks once"))["heard"].get<std::string>().contains("256 KiB"));
}

TEST_CASE("whoever waits for a model holds up nobody, and too many are told at once" *
          testing::needs_root()) {
  std::mutex mutex;
  std::map<uid_t, int> waiting;
  HostileHouse house({.model = [&](const Question& question, const auto& /*never*/) {
    const std::lock_guard lock(mutex);
    ++waiting[question.head.user];
  }});
  std::atomic<int> told = 0;
  for (int i = 0; i < 12; ++i)
    house.client().ask(
        {.what = What::tail, .user = std::to_string(ann), .logs = {"/asks once"}},
        [&](const Result<Document>& answer) {
          if (answer && (*answer)["heard"].get<std::string>().contains("too many questions"))
            ++told;
        });
  CHECK(testing::soon([&] { return told == 10; }));
  CHECK(waiting[ann] == 2);
  CHECK(need(house.ask(ann, "fine"))["fine"] == true);
  CHECK(need(house.ask(bob, "fine"))["fine"] == true);
  house.client().ask({.what = What::tail, .user = std::to_string(bob), .logs = {"/asks once"}},
                     [](const Result<Document>&) {});
  CHECK(testing::soon([&] {
    const std::lock_guard lock(mutex);
    return waiting[bob] == 1;
  }));
}

TEST_CASE("a child has the rights of its user and nothing else" * testing::needs_root()) {
  const Descriptor inherited(::dup(STDERR_FILENO));  // not closed by a change of program
  HostileHouse house;
  CHECK(need(house.ask(ann, "sees"))["seen"] == "");
}

TEST_CASE("so it is where the reader is no root, but may become users" * testing::needs_root()) {
  HostileHouse house({.as_unit = true});
  CHECK(need(house.ask(ann, "sees"))["seen"] == "");
  CHECK(need(house.ask(own_user, "sees"))["seen"] == "");
  HostileHouse hasty({.deadline = seconds(2), .as_unit = true});
  CHECK_FALSE(hasty.ask(bob, "hang"));  // whom it may signal only as himself
  CHECK(need(house.ask(bob, "leave"))["fine"] == true);
  CHECK(none_is_left_of(bob));
}

TEST_CASE("CPU time is limited and counted: whoever has used his has to wait, others do not" *
          testing::needs_root()) {
  HostileHouse house({.cpu_per_minute = milliseconds(500)});
  const auto spins = house.ask(ann, "spin");
  REQUIRE_FALSE(spins);
  CHECK_MESSAGE(spins.error().message.contains("1 s of CPU time"), spins.error().message);
  const auto busy = house.ask(ann, "fine");
  REQUIRE_FALSE(busy);
  CHECK(busy.error().code == ErrorCode::unavailable);
  CHECK_MESSAGE(busy.error().message.contains("has used 1 s"), busy.error().message);
  CHECK(need(house.ask(bob, "fine"))["fine"] == true);
}

TEST_CASE("a reader that is killed leaves nothing running" * testing::needs_root()) {
  HostileHouse house;  // whose deadline is far: it is no alarm that ends them
  std::atomic<bool> answered = false;
  house.client().ask({.what = What::tail, .user = std::to_string(ann), .logs = {"/hang"}},
                     [&](const Result<Document>&) { answered = true; });
  CHECK(testing::soon([] { return processes_of(ann) == 1; }));
  house.kill();
  CHECK(none_is_left_of(ann));
}

TEST_CASE("who breeds or flees is ended with all that is his" * testing::needs_root()) {
  HostileHouse hasty({.deadline = seconds(2)});
  const auto answer = hasty.ask(ann, "bomb");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::timeout);
  CHECK(none_is_left_of(ann));
  HostileHouse house;
  CHECK(need(house.ask(bob, "leave"))["fine"] == true);
  CHECK(none_is_left_of(bob));
}

TEST_CASE("nobody waits for the end of another one's flood of readings" * testing::needs_root()) {
  std::atomic<int> answered = 0, asked = 0;
  const auto flood = [&](HostileHouse& house, std::initializer_list<const char*> kinds) {
    for (const char* kind : kinds) {
      ++asked;
      house.client().ask(
          {.what = What::tail, .user = std::to_string(ann), .logs = {std::string("/") + kind}},
          [&](const Result<Document>&) { ++answered; });
    }
  };
  {
    HostileHouse house;
    for (int round = 0; round < 60; ++round) {
      if (asked - answered < 60) flood(house, {"crash", "flood", "rubbish"});
      CHECK(house.ask(bob, "fine"));
    }
    CHECK(testing::soon([&] { return answered == asked; }));
    CHECK(asked > 60);
    // None of these has an answer before the reader ends.
    for (int i = 0; i < 16; ++i) flood(house, {"hang"});
    const int before = answered;
    for (int round = 0; round < 20; ++round) CHECK(house.ask(bob, "fine"));
    CHECK(answered == before);
  }
  CHECK(none_is_left_of(ann));
}

}  // namespace schedmate::reader
