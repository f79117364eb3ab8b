// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <schedmate/action.hpp>
#include <set>
#include <sstream>

#include "core/action_json.hpp"

namespace schedmate {
namespace {

std::vector<ActionKind> all_kinds() {
  std::vector<ActionKind> kinds;
  for (int i = 0; i < action_kinds; ++i) kinds.push_back(static_cast<ActionKind>(i));
  return kinds;
}

std::vector<ActionState> all_states() {
  std::vector<ActionState> states;
  for (int i = 0; i < action_states; ++i) states.push_back(static_cast<ActionState>(i));
  return states;
}

/// Each kind has a row: what undo, a second call, and a second call after a reading may do, and
/// then all that may follow, FROM>TO.
constexpr const char* both_ladders =
    "planned>shadowed planned>waiting planned>intended "
    "waiting>approved waiting>rejected waiting>expired waiting>discarded approved>intended "
    "intended>called called>verified called>failed called>ambiguous called>superseded "
    "ambiguous>verified ambiguous>failed ambiguous>superseded";
constexpr const char* of_undoable = " verified>undone verified>superseded";

struct KindRow {
  const char* name;
  bool undo, second_call, after_reading;
  const char* targets;
};
constexpr std::array<KindRow, action_kinds> kind_rows = {{
    {"set_order", true, true, false, "order 7,"},
    {"hold", true, false, false, "job 7,"},
    {"release", false, false, false, "job 7,"},
    {"start", false, false, false, "job 7,"},
    {"evict", false, false, false, "job 7,"},
    {"requeue_excluding", false, false, true, "job 7,"},
    {"drain_node", true, false, false, "node n1,node n2,"},
    {"undrain_node", false, false, false, "node n1,node n2,"},
    {"release_spare", false, false, false, "node n1,node n2,"},
    {"test_nodes", false, false, false, "node n1,node n2,"},
    {"cancel", false, false, false, "job 7,"},
    {"submit", false, false, true, "submission t,"},
    {"annotate", true, false, false, "note 7,"},
    {"notify", false, false, false, ""},
}};

TEST_CASE("every kind has its name, its rights and its targets") {
  for (const ActionKind kind : all_kinds()) {
    const KindRow& row = kind_rows.at(static_cast<std::size_t>(kind));
    CAPTURE(row.name);
    CHECK(name_of(kind) == row.name);
    CHECK(action_kind_of(row.name) == kind);
    CHECK(can_be_undone(kind) == row.undo);
    CHECK(is_idempotent(kind) == row.second_call);
    CHECK(repeats_after_reading(kind) == row.after_reading);
    std::string targets;
    for (const auto& each :
         targets_of({.kind = kind, .job = "7", .nodes = {{"n1", {}}, {"n2", {}}}, .token = "t"}))
      targets += each + ",";
    CHECK(targets == row.targets);
  }
  CHECK_FALSE(action_kind_of("reboot").has_value());
}

TEST_CASE("every kind goes from state to state as design 10.5 says, and no other way") {
  for (const ActionKind kind : all_kinds()) {
    const KindRow& row = kind_rows.at(static_cast<std::size_t>(kind));
    std::istringstream words(std::string(both_ladders) + (row.undo ? of_undoable : ""));
    std::set<std::string> allowed;
    for (std::string word; words >> word;) allowed.insert(word);
    for (const ActionState from : all_states()) {
      for (const ActionState to : all_states()) {
        const std::string step = std::string(name_of(from)) + ">" + std::string(name_of(to));
        CHECK_MESSAGE(may_follow(kind, from, to) == allowed.contains(step),
                      row.name << " " << step);
      }
    }
  }
}

TEST_CASE("an end is where nothing follows, and what is in flight is no end") {
  const std::set<std::string_view> in_flight = {"planned",  "waiting", "approved",
                                                "intended", "called",  "ambiguous"};
  const std::set<std::string_view> ends = {"shadowed", "rejected",   "expired", "discarded",
                                           "failed",   "superseded", "undone"};
  for (const ActionKind kind : all_kinds()) {
    for (const ActionState state : all_states()) {
      CAPTURE(name_of(kind));
      CAPTURE(name_of(state));
      bool anything_follows = false;
      for (const ActionState to : all_states()) anything_follows |= may_follow(kind, state, to);
      CHECK(is_end(kind, state) == !anything_follows);
      CHECK(is_in_flight(state) == in_flight.contains(name_of(state)));
      const bool verified = name_of(state) == "verified";
      CHECK(is_end(kind, state) ==
            (ends.contains(name_of(state)) || (verified && !can_be_undone(kind))));
    }
  }
}

TEST_CASE("the mode of the decision bounds what follows") {
  struct ModeRow {
    const char* mode;
    const char* allowed;  ///< of what may follow on planned and waiting
  };
  constexpr std::array<ModeRow, 4> rows = {{
      {"observe", ""},
      {"shadow", "planned>shadowed "},
      {"approve",
       "planned>waiting waiting>approved waiting>rejected waiting>expired "
       "waiting>discarded approved>intended "},
      {"act",
       "planned>waiting planned>intended waiting>approved waiting>rejected waiting>expired "
       "waiting>discarded approved>intended "},
  }};
  for (const ModeRow& row : rows) {
    const auto mode = mode_of(row.mode);
    REQUIRE(mode.has_value());
    CHECK(name_of(*mode) == row.mode);
    std::string allowed;
    for (const ActionState from :
         {ActionState::planned, ActionState::waiting, ActionState::approved}) {
      Action action{.call = {.kind = ActionKind::hold}, .mode = *mode, .steps = {{from}}};
      for (const ActionState to : all_states())
        if (may_become(action, to))
          allowed += std::string(name_of(from)) + ">" + std::string(name_of(to)) + " ";
    }
    CHECK(allowed == row.allowed);
  }
  CHECK_FALSE(mode_of("advise").has_value());
}

TEST_CASE("states have their names") {
  for (const ActionState state : all_states()) CHECK(action_state_of(name_of(state)) == state);
  CHECK_FALSE(action_state_of("done").has_value());
}

Action full_action() {
  return {.id = 17,
          .call = {.kind = ActionKind::start,
                   .job = "7",
                   .restarts = 2,
                   .nodes = {{"n1", {0, 3}}, {"n2", {}}},
                   .shared_with = "6",
                   .order = -4,
                   .text = "a \"text\"",
                   .user = "ann",
                   .token = "t"},
          .why = {"line 1", "line 2"},
          .mode = Mode::act,
          .before = "what stood there",
          .undoes = 3,
          .steps = {{ActionState::planned, at(5), "schedmate", "x"},
                    {ActionState::intended, at(6), "ann", ""}}};
}

TEST_CASE("an action comes back from its JSON as it was") {
  const Action action = full_action();
  CHECK(read_action(in_one_line(action_document(action))) == action);
  const Action plain{.id = 1, .steps = {{}}};
  CHECK(read_action(in_one_line(action_document(plain))) == plain);
}

TEST_CASE("what is no action is an error") {
  const std::string good = in_one_line(action_document(full_action()));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const auto with = [&](const std::string& old, const std::string& replacement) {
    std::string text = good;
    REQUIRE(text.contains(old));
    return text.replace(text.find(old), old.size(), replacement);
  };
  for (const std::string& text :
       {std::string(), good.substr(1), with("\"id\"", "\"number\""),
        with(R"("kind":"start","job)", R"("kind":"boot","job)"),
        with(R"("mode":"act")", R"("mode":"often")"),
        with(R"("state":"intended","when)", R"("state":"lost","when)"),
        with(R"("why":[)", R"("why":[[],)"), std::string("[]"),
        with(R"("nodes":[)", R"("nodes":[)" + deep + ","), with(R"("id":17)", R"("id":9e99)"),
        with(R"("gpus":[0,3])", R"("gpus":[0,4294967299])")}) {
    const auto read = read_action(text);
    REQUIRE_MESSAGE(!read.has_value(), text);
    CHECK(read.error().code == ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace schedmate
