// SPDX-License-Identifier: Apache-2.0

/// The C face (schedmate.h, schedmate_policy.h): nothing but values and codes crosses it.

#include <cxxabi.h>
#include <fmt/format.h>
#include <pthread.h>
#include <schedmate.h>
#include <schedmate_policy.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/check.hpp"
#include "base/error_document.hpp"
#include "face/host_parts.hpp"
#include "face/sessions.hpp"
#include "face/use_cases.hpp"
#include "secrets/outgoing.hpp"
#include "settings/version.hpp"

namespace schedmate {

/// A broken invariant ends the call, not the process of the host.
void check_failed(const char* file, int line, const char* text) {
  throw std::logic_error(fmt::format("{}:{}: broken invariant: {}", file, line, text));
}

namespace face {
namespace {

/// Made when the library is loaded and never destroyed: a host may call until its very end.
Sessions& sessions = [] -> Sessions& {
  Sessions& made = *std::make_unique<Sessions>().release();
  ::pthread_atfork([] { sessions.lock(); }, [] { sessions.unlock(); }, [] { sessions.unlock(); });
  return made;
}();

constexpr std::array<const char*, 12> names{"ok",          "invalid",   "not_found", "unavailable",
                                            "timeout",     "bad_reply", "refused",   "conflict",
                                            "unsupported", "bad_call",  "internal",  "stopped"};
static_assert(SCHEDMATE_INVALID == static_cast<int>(ErrorCode::invalid) + 1);
static_assert(SCHEDMATE_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported) + 1);
static_assert(SCHEDMATE_STOPPED + 1 == names.size());

int code_of(const Error& error) { return static_cast<int>(error.code) + 1; }

/// Of what no Error stands for.
int complain(int code, const char* message, const char* mend, char** reply) {
  if (reply == nullptr) return code;
  try {
    const std::string said = secrets::redacted(message);
    const Document document = {{"schema", "schedmate.error.v1"},
                               {"code", names[static_cast<std::size_t>(code)]},
                               {"message", said},
                               {"mend", mend}};
    *reply = sessions.keep(in_one_line(document), said);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {  // no memory, not even for this
    *reply = nullptr;
  }
  return code;
}

int bad_call(const char* message, char** reply) {
  return complain(SCHEDMATE_BAD_CALL, message, "correct the call (schedmate.h)", reply);
}

int fault(const char* message, char** reply) {
  return complain(SCHEDMATE_INTERNAL, message, "report it, with the request", reply);
}

/// What `work` gives is the reply. A cancelled thread unwinds through here, as pthreads wants it.
template <class Work>
int guarded(char** reply, const Work& work) {
  try {
    Result<std::string> done = work();
    if (done) {
      if (reply != nullptr && !done->empty()) *reply = sessions.keep(*std::move(done));
      return SCHEDMATE_OK;
    }
    if (reply == nullptr) return code_of(done.error());
    const Error error{done.error().code, secrets::safe_line(done.error().message)};
    *reply = sessions.keep(in_one_line(error_document(error)), error.message);
    return code_of(error);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return complain(SCHEDMATE_INTERNAL, "out of memory", "ask for less, or give more memory",
                    reply);
  } catch (const std::exception& error) {
    return fault(error.what(), reply);
  } catch (...) {
    return fault("an exception of unknown type", reply);
  }
}

struct Bytes {
  const char* text;
  std::size_t size;
};

template <class Work>
int answer(const Work& use_case, schedmate_session number, Bytes request, char** reply) {
  if (reply == nullptr) return SCHEDMATE_BAD_CALL;
  *reply = nullptr;
  if (request.text == nullptr) return bad_call("the request is null", reply);
  std::shared_ptr<const OpenSession> open;
  const int code = guarded(reply, [&]() -> Result<std::string> {
    open = sessions.find(number);
    return open == nullptr ? Result<std::string>("")
                           : use_case(open->session, std::string_view(request.text, request.size));
  });
  return code == SCHEDMATE_OK && open == nullptr
             ? bad_call("no session of this number is open", reply)
             : code;
}

int answer_with(schedmate_session number, Bytes request, const schedmate_hooks* hooks,
                char** reply) {
  if (reply == nullptr) return SCHEDMATE_BAD_CALL;
  *reply = nullptr;
  if (hooks == nullptr) return bad_call("the hooks are null", reply);
  if (const char* const fault = fault_of(*hooks); fault != nullptr) return bad_call(fault, reply);
  std::optional<std::string> stopped;
  const auto use_case = [&](const settings::Session& session,
                            std::string_view text) -> Result<std::string> {
    auto own = parts_of(*hooks, sessions);
    if (!own) return tl::unexpected(own.error());
    const HostParts host{*std::move(own), progress_of(*hooks),
                         [&](const RunRecord& record) { tell(*hooks, record); }};
    try {
      return simulate_with(session, text, host);
    } catch (const HookFailure& failure) {
      if (failure.error()) return tl::unexpected(*failure.error());
      stopped = failure.what();
      return "";
    }
  };
  const int code = answer(use_case, number, request, reply);
  if (!stopped) return code;
  return complain(SCHEDMATE_STOPPED, stopped->c_str(), "see what the callback found", reply);
}

/// A question or a decision of a plan: what `work` gives is whether there is room.
template <class Work>
int with_round(std::uint64_t plan, char** reply, const Work& work) {
  if (reply != nullptr) *reply = nullptr;
  bool has_room = true;
  Round* round = nullptr;
  const int code = guarded(reply, [&]() -> Result<std::string> {
    round = sessions.round(plan);
    if (round == nullptr) return "";
    Result<bool> done = work(*round);
    if (!done) return tl::unexpected(done.error());
    has_room = *done;
    return "";
  });
  if (code != SCHEDMATE_OK) return code;
  if (round == nullptr) return bad_call("no plan of this number is open in this thread", reply);
  return has_room ? SCHEDMATE_OK : SCHEDMATE_UNAVAILABLE;
}

void fill(schedmate_outlook& outlook, const lab::HostEstimates::Answer& answer) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const Prediction& said = answer.prediction;
  schedmate_outlook made{.size = outlook.size,
                         .now_s = outlook.now_s,
                         .run_time_s = said.run_time.count(),
                         .p10_s = unknown,
                         .p50_s = unknown,
                         .p90_s = unknown,
                         .advised = said.advised,
                         .gpu_util_pct = unknown,
                         .memory_util_pct = unknown,
                         .memory_mib = unknown,
                         .sharing_score = answer.sharing_score,
                         .blind = said.blind ? 1 : 0};
  if (said.distribution) {
    made.p10_s = said.distribution->p10.count();
    made.p50_s = said.distribution->p50.count();
    made.p90_s = said.distribution->p90.count();
  }
  if (said.use) {
    made.gpu_util_pct = said.use->gpu_util_pct;
    made.memory_util_pct = said.use->memory_util_pct;
    made.memory_mib = said.use->memory_mib;
  }
  outlook = made;
}

/// `work` is given the estimates, while nobody else has them.
template <class Work>
int with_estimates(schedmate_estimates number, char** reply, const Work& work) {
  if (reply != nullptr) *reply = nullptr;
  const char* wrong = nullptr;
  const int code = guarded(reply, [&]() -> Result<std::string> {
    const auto open = sessions.estimates(number);
    if (open == nullptr) wrong = "no estimates of this number are open";
    if (open != nullptr && open->busy.test_and_set()) wrong = "another thread asks these estimates";
    if (wrong != nullptr) return "";
    const std::unique_ptr<std::atomic_flag, void (*)(std::atomic_flag*)> freed(
        &open->busy, [](std::atomic_flag* busy) { busy->clear(); });
    Result<void> done = work(*open->estimates);
    if (!done) return tl::unexpected(done.error());
    return "";
  });
  return wrong == nullptr ? code : bad_call(wrong, reply);
}

int null_argument(char** reply) {
  if (reply != nullptr) *reply = nullptr;
  return bad_call("where the answer goes, or what is asked about, is null", reply);
}

}  // namespace
}  // namespace face
}  // namespace schedmate

namespace face = schedmate::face;

const char* schedmate_version() { return schedmate::settings::version().version.data(); }

const char* schedmate_code_name(int code) {
  const auto index = static_cast<std::size_t>(code);
  return code >= 0 && index < face::names.size() ? face::names[index] : "unknown";
}

int schedmate_open(const char* options, size_t size, schedmate_session* session, char** reply) {
  if (reply != nullptr) *reply = nullptr;
  if (session == nullptr) return face::bad_call("the session is null", reply);
  *session = 0;
  return face::guarded(reply, [&]() -> schedmate::Result<std::string> {
    const auto opened = std::make_shared<face::OpenSession>(::environ);
    const std::string_view text(options == nullptr ? "" : options, options == nullptr ? 0 : size);
    auto made = face::open_session(text, opened->environment());
    if (!made) return tl::unexpected(made.error());
    opened->session = *std::move(made);
    *session = face::sessions.add(opened);
    return "";
  });
}

int schedmate_close(schedmate_session session) {
  return face::sessions.remove(session) ? SCHEDMATE_OK : SCHEDMATE_BAD_CALL;
}

const char* schedmate_message(const char* reply) { return face::sessions.message_of(reply); }

int schedmate_free(char* reply) {
  if (reply == nullptr || face::sessions.free(reply)) return SCHEDMATE_OK;
  return SCHEDMATE_BAD_CALL;
}

#define SCHEDMATE_USE_CASE(name)                                                    \
  int schedmate_##name(schedmate_session session, const char* request, size_t size, \
                       char** reply) {                                              \
    return face::answer(face::name, session, {request, size}, reply);               \
  }
SCHEDMATE_USE_CASE(facts)
SCHEDMATE_USE_CASE(advise)
SCHEDMATE_USE_CASE(track)
SCHEDMATE_USE_CASE(diagnose)
SCHEDMATE_USE_CASE(ask)
SCHEDMATE_USE_CASE(eta)
SCHEDMATE_USE_CASE(finish)
SCHEDMATE_USE_CASE(simulate)

int schedmate_estimates_open(schedmate_session session, const char* request, size_t size,
                             schedmate_estimates* estimates, char** reply) {
  if (reply != nullptr) *reply = nullptr;
  if (estimates == nullptr || request == nullptr) return face::null_argument(reply);
  *estimates = 0;
  bool is_open = true;
  const int code = face::guarded(reply, [&]() -> schedmate::Result<std::string> {
    const auto made = std::make_shared<face::OpenEstimates>();
    made->session = face::sessions.find(session);
    is_open = made->session != nullptr;
    if (!is_open) return "";
    auto opened = face::open_estimates(made->session->session, {request, size});
    if (!opened) return tl::unexpected(opened.error());
    made->estimates = *std::move(opened);
    *estimates = face::sessions.add(made);
    return "";
  });
  return is_open ? code : face::bad_call("no session of this number is open", reply);
}

int schedmate_simulate_with(schedmate_session session, const char* request, size_t size,
                            const schedmate_hooks* hooks, char** reply) {
  return face::answer_with(session, {request, size}, hooks, reply);
}

int schedmate_estimates_predict(schedmate_estimates estimates, const char* id,
                                schedmate_outlook* outlook, char** reply) {
  if (id == nullptr || outlook == nullptr || outlook->size < sizeof(schedmate_outlook))
    return face::null_argument(reply);
  return face::with_estimates(estimates, reply,
                              [&](schedmate::lab::HostEstimates& asked) -> schedmate::Result<void> {
                                const auto answer = asked.predict(id, outlook->now_s);
                                if (!answer) return tl::unexpected(answer.error());
                                face::fill(*outlook, *answer);
                                return {};
                              });
}

int schedmate_estimates_learn(schedmate_estimates estimates, const char* id, int64_t end_s,
                              char** reply) {
  if (id == nullptr) return face::null_argument(reply);
  return face::with_estimates(estimates, reply, [&](schedmate::lab::HostEstimates& asked) {
    return asked.learn(id, end_s);
  });
}

int schedmate_estimates_close(schedmate_estimates estimates) {
  return face::sessions.remove_estimates(estimates) ? SCHEDMATE_OK : SCHEDMATE_BAD_CALL;
}

int schedmate_plan_start(uint64_t plan, uint32_t job, char** reply) {
  return face::with_round(plan, reply, [&](face::Round& round) { return round.start(job); });
}

int schedmate_plan_start_on(uint64_t plan, uint32_t job, const schedmate_slices* where,
                            char** reply) {
  if (where == nullptr || (where->slices == nullptr && where->count > 0))
    return face::null_argument(reply);
  return face::with_round(plan, reply, [&](face::Round& round) {
    return round.start_on(job, {where->slices, where->count});
  });
}

int schedmate_plan_preempt(uint64_t plan, uint32_t job, char** reply) {
  return face::with_round(plan, reply, [&](face::Round& round) { return round.preempt(job); });
}

int schedmate_plan_evict(uint64_t plan, uint32_t job, char** reply) {
  return face::with_round(plan, reply, [&](face::Round& round) { return round.evict(job); });
}

int schedmate_plan_wake_at(uint64_t plan, int64_t time_s, char** reply) {
  return face::with_round(plan, reply, [&](face::Round& round) { return round.wake_at(time_s); });
}

int schedmate_plan_fits(uint64_t plan, int32_t gpus, char** reply) {
  return face::with_round(plan, reply, [&](const face::Round& round) { return round.fits(gpus); });
}

int schedmate_plan_gpus(uint64_t plan, schedmate_gpus* gpus, char** reply) {
  if (gpus == nullptr) return face::null_argument(reply);
  return face::with_round(plan, reply, [&](const face::Round& round) -> schedmate::Result<bool> {
    *gpus = round.gpus();
    return true;
  });
}

int schedmate_plan_jobs(uint64_t plan, const schedmate_numbers* numbers,
                        const schedmate_jobs** jobs, char** reply) {
  if (jobs == nullptr || numbers == nullptr || (numbers->jobs == nullptr && numbers->count > 0))
    return face::null_argument(reply);
  *jobs = nullptr;
  return face::with_round(plan, reply, [&](face::Round& round) -> schedmate::Result<bool> {
    const auto told = round.jobs({numbers->jobs, numbers->count});
    if (!told) return tl::unexpected(told.error());
    *jobs = *told;
    return true;
  });
}

int schedmate_plan_free(uint64_t plan, const uint64_t** masks, size_t* count, char** reply) {
  if (masks == nullptr || count == nullptr) return face::null_argument(reply);
  return face::with_round(plan, reply, [&](face::Round& round) -> schedmate::Result<bool> {
    const auto told = round.free_masks();
    *masks = told.data();
    *count = told.size();
    return true;
  });
}

int schedmate_plan_held(uint64_t plan, uint32_t job, schedmate_slices* where, char** reply) {
  if (where == nullptr) return face::null_argument(reply);
  return face::with_round(plan, reply, [&](face::Round& round) -> schedmate::Result<bool> {
    const auto told = round.held(job);
    if (!told) return tl::unexpected(told.error());
    *where = {told->data(), told->size()};
    return true;
  });
}

int schedmate_plan_residents(uint64_t plan, const schedmate_gpu* gpu, schedmate_numbers* jobs,
                             char** reply) {
  if (gpu == nullptr || jobs == nullptr) return face::null_argument(reply);
  return face::with_round(plan, reply, [&](face::Round& round) -> schedmate::Result<bool> {
    const auto told = round.residents(gpu->node, gpu->gpu);
    if (!told) return tl::unexpected(told.error());
    *jobs = {told->data(), told->size()};
    return true;
  });
}
