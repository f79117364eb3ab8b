// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_llm.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace schedmate::testing {
namespace {

using Json = nlohmann::json;

FakeCall read_call(const httplib::Request& request) {
  FakeCall call{.path = request.path,
                .body = request.body,
                .authorization = request.get_header_value("Authorization"),
                .schema = {},
                .texts = {}};
  const Json json = Json::parse(request.body, nullptr, false);
  if (!json.is_object()) return call;
  const Json::json_pointer schema("/response_format/json_schema/schema");
  if (json.contains(schema)) call.schema = json.at(schema).dump();
  for (const Json& message : json.value("messages", Json::array())) {
    call.texts.push_back(message.value("content", ""));
  }
  return call;
}

FakeReply error_reply(int status, const Json& error) {
  return {.status = status, .body = Json{{"error", error}}.dump()};
}

/// The one value that a schema of a single property with one allowed value leaves.
std::string only_choice(const std::string& schema) {
  const Json json = Json::parse(schema, nullptr, false);
  if (!json.is_object() || !json.contains("properties") || json["properties"].size() != 1)
    return {};
  const auto property = json["properties"].items().begin();
  const Json choices = property.value().value("enum", Json::array());
  if (choices.size() != 1) return {};
  return Json{{property.key(), choices[0]}}.dump();
}

FakeReply bound_reply(const FakeModel& model, const FakeCall& call) {
  const std::string only = only_choice(call.schema);
  return chat_reply(only.empty() ? model(call) : only);
}

}  // namespace

struct FakeLlm::Inside {
  httplib::Server server;
  FakeAnswer answer;
  mutable std::mutex mutex;
  std::vector<FakeCall> calls;
  std::atomic<bool> closing = false;
  int port = 0;
  std::jthread thread;

  void respond(const httplib::Request& request, httplib::Response& response) {
    const FakeCall call = read_call(request);
    const FakeReply reply = answer(call);
    {
      const std::lock_guard lock(mutex);
      calls.push_back(call);
    }
    response.status = reply.status;
    for (const auto& [name, value] : reply.headers) response.set_header(name, value);
    if (reply.per_byte == std::chrono::milliseconds(0)) {
      response.set_content(reply.body, reply.content_type);
      return;
    }
    response.set_chunked_content_provider(
        reply.content_type, [this, reply](std::size_t offset, httplib::DataSink& sink) {
          if (offset >= reply.body.size() || closing) {
            sink.done();
            return true;
          }
          std::this_thread::sleep_for(reply.per_byte);  // clock: a slow server
          return sink.write(reply.body.data() + offset, 1);
        });
  }

  void start(int wanted) {
    server.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      respond(request, response);
    });
    if (wanted == 0) {
      port = server.bind_to_any_port("127.0.0.1");
    } else if (server.bind_to_port("127.0.0.1", wanted)) {
      port = wanted;
    }
    if (port > 0) thread = std::jthread([this] { server.listen_after_bind(); });
    while (port > 0 && !server.is_running()) std::this_thread::yield();
  }
};

FakeLlm::FakeLlm(FakeAnswer answer) : FakeLlm(std::move(answer), 0) {}

FakeLlm::FakeLlm(FakeAnswer answer, int port) : inside_(std::make_unique<Inside>()) {
  inside_->answer = std::move(answer);
  inside_->start(port);
}

FakeLlm::~FakeLlm() {
  inside_->closing = true;
  inside_->server.stop();
}

int FakeLlm::port() const { return inside_->port; }

std::string FakeLlm::url() const { return fmt::format("http://127.0.0.1:{}/v1", inside_->port); }

std::vector<FakeCall> FakeLlm::calls() const {
  const std::lock_guard lock(inside_->mutex);
  return inside_->calls;
}

FakeReply chat_reply(const std::string& text, const std::string& finish) {
  const Json message = {{"role", "assistant"}, {"content", text}};
  const Json choice = {{"index", 0}, {"message", message}, {"finish_reason", finish}};
  const Json body = {{"model", "fake-1"},
                     {"choices", Json::array({choice})},
                     {"usage", {{"prompt_tokens", 100}, {"completion_tokens", 10}}}};
  return {.body = body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

FakeAnswer like_vllm(FakeModel model, std::size_t context_bytes) {
  return [model = std::move(model), context_bytes](const FakeCall& call) {
    if (call.body.size() <= context_bytes) return bound_reply(model, call);
    FakeReply reply{.status = 400};
    reply.body = Json{{"object", "error"},
                      {"message",
                       "This model's maximum context length is 8192 tokens. However, "
                       "you requested 9000 tokens."},
                      {"type", "BadRequestError"},
                      {"code", 400}}
                     .dump();
    return reply;
  };
}

FakeAnswer like_llama_server(FakeModel model, std::size_t context_bytes) {
  return [model = std::move(model), context_bytes](const FakeCall& call) {
    if (call.body.size() > context_bytes) {
      return error_reply(400, {{"code", 400},
                               {"message", "the request exceeds the available context size"},
                               {"type", "exceed_context_size_error"},
                               {"n_ctx", 8192}});
    }
    if (call.schema.find("$ref") != std::string::npos) {
      return error_reply(400, {{"code", 400},
                               {"message", "JSON schema conversion failed: Error resolving ref"},
                               {"type", "invalid_request_error"}});
    }
    return bound_reply(model, call);
  };
}

FakeAnswer like_old_ollama(FakeModel model) {
  return [model = std::move(model)](const FakeCall& call) {
    const bool canary = !only_choice(call.schema).empty();
    const std::string answer = canary ? R"({"word": "blue"})" : model(call);
    return chat_reply("Sure! Here it is:\n```json\n" + answer + "\n```\nAnything else?");
  };
}

FakeAnswer like_gateway(FakeModel model, std::string token) {
  return [model = std::move(model), token = std::move(token),
          count = std::make_shared<std::atomic<int>>(0)](const FakeCall& call) {
    if (call.authorization != "Bearer " + token) {
      return error_reply(401, {{"message", "Incorrect API key provided: " + call.authorization}});
    }
    if ((*count)++ % 2 == 0) {
      FakeReply reply = error_reply(429, {{"message", "rate limit"}});
      reply.headers["Retry-After"] = "2";
      return reply;
    }
    if (!call.schema.empty()) {
      return error_reply(400, {{"message", "response_format json_schema is not supported"}});
    }
    return chat_reply(model(call));
  };
}

}  // namespace schedmate::testing
