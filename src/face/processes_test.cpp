// SPDX-License-Identifier: Apache-2.0

/// The C face in hosts with threads, children and signals of their own.

#include <doctest/doctest.h>
#include <pthread.h>
#include <schedmate.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/library/host.hpp"

namespace schedmate {
namespace {

using face_test::ask_face, face_test::Json, face_test::UseCase, face_test::World;

/// The sanitizer of g++ 12 has locks of its own in malloc(), which fork() does not know: a child
/// hangs that was made while another thread had one. So with it only logs are read by several, and
/// they take turns.
#ifdef __SANITIZE_ADDRESS__
constexpr bool threads_may_fork = false;
#else
constexpr bool threads_may_fork = true;
#endif

std::unique_lock<std::mutex> turn() {
  static std::mutex turns;
  return threads_may_fork ? std::unique_lock<std::mutex>() : std::unique_lock(turns);
}

bool fine(UseCase use_case, schedmate_session session, const Json& request, const char* holds) {
  const auto mine = turn();
  const std::string text = request.dump();
  char* reply = nullptr;
  const int code = use_case(session, text.data(), text.size(), &reply);
  const bool good =
      code == SCHEDMATE_OK && reply != nullptr && std::string_view(reply).contains(holds);
  CHECK_MESSAGE(good, code, " ", std::string(reply == nullptr ? "no reply" : reply));
  return schedmate_free(reply) == SCHEDMATE_OK && good;
}

bool asks_of_logs(const World& world, schedmate_session session) {
  return fine(schedmate_track, session, world.logs(), "\"step\":40") &&
         fine(schedmate_diagnose, session, world.logs(), "\"root_line\": 41") &&
         fine(schedmate_ask, session, world.question(), "schedmate.answers.v1");
}

/// What a host asks that does everything, and whether each answer was one.
bool asks_all(const World& world, schedmate_session session) {
  Json recorded = world.advise();
  recorded["record"] = true;
  recorded["job_id"] = std::to_string(::getpid()) + "-" +
                       std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id()));
  return fine(schedmate_facts, session, world.facts(), "schedmate.facts.v1") &&
         fine(schedmate_advise, session, recorded, "schedmate.advice.v1") &&
         asks_of_logs(world, session);
}

/// The exit code of a child that does this; 99 when it hangs or dies.
int in_child(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 99;
  return WEXITSTATUS(status);
}

TEST_CASE("eight threads ask with one session and with their own, at the same time") {
  const World world;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        schedmate_session own = world.session();
        if (i % 2 == 1) own = world.open_another();
        const auto asks = threads_may_fork ? asks_all : asks_of_logs;
        if (asks(world, own) && asks(world, own)) ++good;
        if (i % 2 == 1) schedmate_close(own);
      });
    }
  }
  CHECK(good.load() == 8);
}

TEST_CASE("a session may be closed while others still ask with it") {
  const World world;
  for (int round = 0; round < 5; ++round) {
    const schedmate_session session = world.open_another();
    std::atomic<bool> wrong = false;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 20; ++n) {
          const auto mine = turn();
          const int code = ask_face(schedmate_track, session, world.logs()).code;
          if (code != SCHEDMATE_OK && code != SCHEDMATE_BAD_CALL) wrong = true;
        }
      });
    }
    schedmate_close(session);
    threads.clear();
    CHECK_FALSE(wrong);
  }
}

TEST_CASE("a child asks with its parent's session, whatever the parent's threads were at") {
  if (!threads_may_fork) return;
  const World world;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> busy;
  for (int i = 0; i < 2; ++i) {
    busy.emplace_back([&] {
      while (!stop) {
        ask_face(schedmate_track, world.session(), world.logs());
        schedmate_close(world.open_another());
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    CHECK(in_child([&] {
            const schedmate_session own = world.open_another();
            return asks_all(world, world.session()) && asks_all(world, own) &&
                   schedmate_close(own) == SCHEDMATE_OK;
          }) == 0);
  }
  stop = true;
}

TEST_CASE("a host may ignore SIGCHLD and SIGPIPE, or have children of its own") {
  const World world;
  CHECK(in_child([&] {
          ::signal(SIGCHLD, SIG_IGN);
          ::signal(SIGPIPE, SIG_IGN);
          return asks_all(world, world.session());
        }) == 0);
  CHECK(in_child([&] {
          const pid_t own = ::fork();
          if (own == 0) ::_exit(7);
          const bool good = asks_all(world, world.session());
          int status = 0;
          return ::waitpid(own, &status, 0) == own && WEXITSTATUS(status) == 7 && good;
        }) == 0);
}

TEST_CASE("handlers, masks and the working folder of the host stay as they are") {
  const World world;
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::vector<struct sigaction> handlers(32);
  for (int number = 1; number < 32; ++number)
    ::sigaction(number, nullptr, &handlers[static_cast<std::size_t>(number)]);
  REQUIRE(asks_all(world, world.session()));
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < 32; ++number) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    const bool same = now.sa_handler == handlers[static_cast<std::size_t>(number)].sa_handler &&
                      ::sigismember(&before, number) == ::sigismember(&after, number);
    CHECK(same);
  }
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("256 KiB of stack are enough") {
  const World world;
  struct Errand {
    const World& world;
    bool good = false;
  } errand{world};
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 256 << 10);
  pthread_t thread{};
  const auto work = [](void* data) -> void* {
    auto& mine = *static_cast<Errand*>(data);
    mine.good = asks_all(mine.world, mine.world.session());
    return nullptr;
  };
  REQUIRE(::pthread_create(&thread, &small, work, &errand) == 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&small);
  CHECK(errand.good);
}
#endif

TEST_CASE("nothing is left behind: no child that runs, no open file") {
  const World world;
  const auto count = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  REQUIRE(asks_all(world, world.session()));
  const auto files = count("/proc/self/fd");
  for (int i = 0; i < 3; ++i) {
    CHECK(asks_all(world, world.session()));
    CHECK(ask_face(schedmate_facts, world.session(), Json{{"dir", "/no"}, {"command", "x"}}).code !=
          SCHEDMATE_OK);
  }
  CHECK(count("/proc/self/fd") == files);
  pid_t ended = 0;  // on a machine with much to do, one that was killed may not be reaped yet
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  CHECK(ended == -1);
}

}  // namespace
}  // namespace schedmate
