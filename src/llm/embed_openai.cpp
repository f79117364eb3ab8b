// SPDX-License-Identifier: Apache-2.0
/// Embeddings of a server that speaks POST /v1/embeddings.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "llm/embedders.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t most_reply_bytes = std::size_t{64} << 20U;

std::string body_of(const std::string& model, std::span<const std::string> texts) {
  const Json body{{"model", model}, {"input", texts}, {"encoding_format", "float"}};
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

tl::unexpected<Error> nonsense(const std::string& what) {
  return fail(ErrorCode::bad_reply, "the embedding server: " + what + "; check url and model");
}

/// Vectors in the order of the texts; servers may send them in any order, with their index.
Result<DenseVectors> read_vectors(const std::string& body, std::size_t texts) {
  try {
    DenseVectors vectors(texts);
    const Json reply = Json::parse(body);
    for (const auto& entry : reply.at("data")) {
      const auto index = entry.at("index").get<std::size_t>();
      if (index >= texts || !vectors[index].empty()) return nonsense("an index twice or too large");
      auto unit = unit_vector(entry.at("embedding").get<std::vector<float>>());
      if (!unit) return nonsense(unit.error().message);
      vectors[index] = std::move(*unit);
    }
    for (const auto& vector : vectors) {
      if (vector.empty()) return nonsense("fewer vectors than texts");
      if (vector.size() != vectors.front().size()) return nonsense("vectors of several lengths");
    }
    return vectors;
  } catch (const Json::exception& error) {
    return nonsense(fmt::format("no list of vectors ({})", quotable(error.what())));
  }
}

class OpenAiEmbeddings {
 public:
  OpenAiEmbeddings(HttpTarget target, const EmbedderOptions& options)
      : model_(options.server.model),
        deadline_(options.server.deadline),
        clock_(options.services.clock),
        batch_(std::max<std::size_t>(options.batch, 1)),
        recall_(options.recall),
        remember_(options.remember) {
    // The retries of a chat serve any exchange: the body goes out as the request's text and the
    // reply's body comes back as its text.
    const Exchange post = [target = std::move(target)](
                              const ChatRequest& request) -> tl::expected<ChatReply, Failure> {
      const HttpLimits limits{.deadline = request.patience, .reply_bytes = most_reply_bytes};
      auto reply = post_json(target, "/embeddings", request.system, limits);
      if (!reply) {
        const bool again = reply.error().code == ErrorCode::unavailable;
        return tl::unexpected(Failure{.error = reply.error(), .again = again, .wait = {}});
      }
      if (reply->status != 200) return read_chat_reply(*reply);
      ChatReply answer;
      answer.text = std::move(reply->body);
      return answer;
    };
    post_ = with_retries(post, options.server, options.services);
  }

  Result<DenseVectors> operator()(std::span<const std::string> texts) const {
    const auto end = clock_.now() + deadline_;
    DenseVectors vectors(texts.size());
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto known = recall_ ? recall_(texts[i]) : std::nullopt;
      if (known) vectors[i] = *known;
      if (!known) missing.push_back(i);
    }
    for (std::size_t at = 0; at < missing.size(); at += batch_) {
      const auto part = std::span(missing).subspan(at, std::min(batch_, missing.size() - at));
      std::vector<std::string> asked;
      for (const auto i : part) asked.push_back(texts[i]);
      auto fresh = ask(asked, std::chrono::duration_cast<milliseconds>(end - clock_.now()));
      if (!fresh) return fresh;
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (remember_) remember_(asked[i], (*fresh)[i]);
        vectors[part[i]] = std::move((*fresh)[i]);
      }
    }
    return vectors;
  }

 private:
  [[nodiscard]] Result<DenseVectors> ask(const std::vector<std::string>& texts,
                                         milliseconds patience) const {
    if (patience <= milliseconds(0)) {
      return fail(ErrorCode::timeout,
                  fmt::format("the embedding server: no answer within {} s; raise deadline_s",
                              deadline_.count() / 1000));
    }
    ChatRequest request;
    request.system = body_of(model_, texts);
    request.patience = patience;
    const auto reply = post_(request);
    if (!reply) {
      return fail(reply.error().code, "the embedding server: " + reply.error().message);
    }
    return read_vectors(reply->text, texts.size());
  }

  std::string model_;
  milliseconds deadline_;
  Clock clock_;
  std::size_t batch_;
  std::function<std::optional<std::vector<float>>(const std::string&)> recall_;
  std::function<void(const std::string&, const std::vector<float>&)> remember_;
  Chat post_;
};

}  // namespace

Result<Embedder> make_openai_embedder(const EmbedderOptions& options) {
  auto target = target_of(options.server, options.services);
  if (!target) return tl::unexpected(target.error());
  if (!options.services.clock.now || !options.services.clock.sleep) {
    return fail(ErrorCode::invalid, "embedder openai: needs a clock for its deadline");
  }
  return Embedder{.name = "openai/" + options.server.model,
                  .threshold = options.threshold.value_or(0.90),
                  .features = {},
                  .embed = OpenAiEmbeddings(std::move(*target), options)};
}

}  // namespace schedmate::llm
