// SPDX-License-Identifier: Apache-2.0
#include "service/log_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <schedmate/store.hpp>

#include "base/words.hpp"
#include "log/failure/cause_question.hpp"
#include "log/progress/shape_question.hpp"
#include "secrets/outgoing.hpp"
#include "service/advisor_state.hpp"

namespace schedmate::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view space = "log-template";
constexpr std::uint64_t largest_cache = std::uint64_t{1} << 20U;
constexpr std::int64_t answer_tokens = 300;
constexpr std::int64_t bytes_per_token = 3;  ///< on the safe side

Json place_json(std::optional<std::size_t> place) { return place ? Json(*place) : Json(nullptr); }

std::string meaning_text(const LineMeaning& meaning, const std::string& models) {
  return Json{{"models", models},
              {"step", place_json(meaning.step)},
              {"total", place_json(meaning.total)},
              {"epoch", place_json(meaning.epoch)},
              {"loss", place_json(meaning.loss)},
              {"time", place_json(meaning.time)},
              {"unit_s", meaning.time_unit_s},
              {"covers", static_cast<int>(meaning.covers)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct RememberedMeanings {
  LineMeaning meaning;
  std::string models;
};

std::optional<RememberedMeanings> read_remembered(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto place = [&](const char* key) {
    const auto held = json.find(key);
    const bool known = held != json.end() && held->is_number_unsigned();
    return known ? std::optional(held->get<std::size_t>()) : std::nullopt;
  };
  RememberedMeanings made;
  made.meaning = {.step = place("step"),
                  .total = place("total"),
                  .epoch = place("epoch"),
                  .loss = place("loss"),
                  .time = place("time")};
  const auto unit = json.find("unit_s");
  const auto covers = json.find("covers");
  const auto models = json.find("models");
  if (unit == json.end() || !unit->is_number() || covers == json.end() ||
      !covers->is_number_unsigned() || covers->get<std::size_t>() > 2 || models == json.end() ||
      !models->is_string())
    return std::nullopt;
  made.meaning.time_unit_s = unit->get<double>();
  made.meaning.covers = static_cast<TimeCover>(covers->get<int>());
  made.models = models->get<std::string>();
  return made;
}

class RememberingReader final : public ShapeReader {
 public:
  RememberingReader(const settings::Session& session, const Models& models,
                    llm::QuestionTally& tally)
      : session_(session), models_(models), tally_(tally) {}

  std::optional<LineMeaning> read(const LineShape& shape) override {
    was_remembered_ = false;
    if (auto held = remembered(key_of(shape))) {
      was_remembered_ = true;
      return held;
    }
    if (gave_up_) return std::nullopt;
    const auto dropped = tally_.dropped;
    const auto answers = llm::ask_all(std::span<const Chat>(models_.chats),
                                      progress::shape_question(shape, secrets::safe_text), tally_);
    gave_up_ = answers.empty() && tally_.dropped == dropped;  // nobody is there
    if (answers.empty()) {
      if (!gave_up_) keep(shape, {});
      return std::nullopt;
    }
    return progress::agreed_meaning(answers);
  }

  void settle(const LineShape& shape, const CheckedMeaning& checked) override {
    const LineMeaning& kept = checked.kept;
    for (const auto* const place : {&kept.step, &kept.total, &kept.epoch, &kept.loss, &kept.time})
      tally_.accepted += place->has_value() ? 1 : 0;
    tally_.dropped += std::ssize(checked.dropped);
    for (const auto& why : checked.dropped) tally_.note("model: " + why);
    if (!was_remembered_) keep(shape, kept);
  }

 private:
  [[nodiscard]] static std::string key_of(const LineShape& shape) {
    return fmt::format("{}-{:016x}", progress::shape_prompt_version(), shape.hash);
  }

  Store* store() {
    if (opened_) return store_.get();
    opened_ = true;
    auto made = open_history(session_);
    if (made)
      store_ = std::move(made->store);
    else
      tally_.note(fmt::format("model: its answers cannot be cached: {}", made.error().message));
    return store_.get();
  }

  /// "Asked, nothing" of other models is no answer.
  std::optional<LineMeaning> remembered(const std::string& key) {
    if (store() == nullptr) return std::nullopt;
    const auto held = store_->cached(std::string(space), key);
    const auto made = held && *held ? read_remembered(**held) : std::nullopt;
    if (!made || (made->meaning.empty() && made->models != models_.names)) return std::nullopt;
    return made->meaning;
  }

  void keep(const LineShape& shape, const LineMeaning& meaning) {
    if (store() == nullptr) return;
    const auto done =
        store_->cache({std::string(space), key_of(shape), "", meaning_text(meaning, models_.names)},
                      largest_cache);
    if (!done)
      tally_.note(fmt::format("model: its answer cannot be cached: {}", done.error().message));
  }

  const settings::Session& session_;
  const Models& models_;
  llm::QuestionTally& tally_;
  std::unique_ptr<Store> store_;
  bool opened_ = false;
  bool gave_up_ = false;
  bool was_remembered_ = false;
};

}  // namespace

std::shared_ptr<ShapeReader> shape_reader(const settings::Session& session, const Models& models,
                                          llm::QuestionTally& tally) {
  if (models.chats.empty()) return nullptr;
  return std::make_shared<RememberingReader>(session, models, tally);
}

CauseReader cause_reader(const Models& models, lines::CleanText clean, llm::QuestionTally& tally) {
  if (models.chats.empty()) return {};
  return [&models, &tally,
          clean = std::move(clean)](const OpenCause& cause) -> std::optional<CauseClaim> {
    const auto room =
        std::max<std::int64_t>(models.agent.context_tokens - answer_tokens - 700, 500);
    const auto bytes = static_cast<std::size_t>(
        std::min<std::int64_t>(room * bytes_per_token, std::int64_t{1} << 16U));
    return failure::agreed_cause(llm::ask_all(std::span<const Chat>(models.chats),
                                              failure::cause_question(cause, clean, bytes), tally));
  };
}

ModelCost cost_of(const Models& models, const llm::QuestionTally& tally) {
  const auto sums = models.meter ? models.meter->sums() : ChatMeter::Sums();
  ModelCost cost{sums.calls, sums.prompt_tokens + sums.completion_tokens, tally.accepted,
                 tally.dropped, tally.notes};
  for (const auto& note : sums.notes) cost.degraded.push_back(printable(note));
  return cost;
}

void add_cost(const ModelCost& cost, Document& document) {
  document["cost"] = {{"model_calls", cost.calls},
                      {"tokens", cost.tokens},
                      {"model_accepted", cost.accepted},
                      {"model_dropped", cost.dropped}};
  document["degraded"] = cost.degraded;
}

}  // namespace schedmate::service
