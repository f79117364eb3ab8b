// SPDX-License-Identifier: Apache-2.0
#include "http/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace schedmate::http {
namespace {

constexpr std::array<std::string_view, 8> cause_words{"malformed", "host",  "cross_site", "token",
                                                      "role",      "route", "limit",      "slow"};

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (quotes && c == '"')) out += '\\';
      out += c;
    }
  }
  return out;
}

Metric single_value(std::string name, std::string help, MetricKind kind, double value) {
  return {std::move(name), std::move(help), kind, "", {{"", value}}};
}

template <class Count>
double number(const std::atomic<Count>& count) {
  return static_cast<double>(count.load(std::memory_order_relaxed));
}

}  // namespace

std::string prometheus_text(std::span<const Metric> metrics) {
  std::string text;
  for (const Metric& metric : metrics) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", metric.name, escaped(metric.help, false),
                        metric.name, metric.kind == MetricKind::counter ? "counter" : "gauge");
    for (const auto& [word, value] : metric.values) {
      if (metric.label.empty())
        text += fmt::format("{} {}\n", metric.name, value);
      else
        text += fmt::format("{}{{{}=\"{}\"}} {}\n", metric.name, metric.label, escaped(word, true),
                            value);
    }
  }
  return text;
}

void Counters::reply(int status) {
  ++by_class.at(static_cast<std::size_t>(std::clamp(status / 100, 0, 5)));
}

std::vector<Metric> Counters::metrics(std::size_t connections) const {
  Metric replies{"schedmate_http_replies_total",
                 "Replies by the class of their status.",
                 MetricKind::counter,
                 "code",
                 {}};
  for (std::size_t digit = 2; digit < by_class.size(); ++digit)
    replies.values.emplace_back(fmt::format("{}xx", digit), number(by_class.at(digit)));
  Metric refusals{"schedmate_http_refused_total",
                  "Requests refused before any handler, by cause.",
                  MetricKind::counter,
                  "cause",
                  {}};
  for (std::size_t cause = 0; cause < cause_words.size(); ++cause)
    refusals.values.emplace_back(cause_words.at(cause), number(refused.at(cause)));
  return {std::move(replies),
          std::move(refusals),
          single_value("schedmate_http_late_answers_total", "Answers that missed their deadline.",
                       MetricKind::counter, number(late)),
          single_value("schedmate_http_connections_total", "Connections taken.",
                       MetricKind::counter, number(accepted)),
          single_value("schedmate_http_connections", "Connections that are open.",
                       MetricKind::gauge, static_cast<double>(connections)),
          single_value("schedmate_http_listeners", "Streams of events that are open.",
                       MetricKind::gauge, number(listeners)),
          single_value(
              "schedmate_http_lagged_listeners_total",
              "Times a stream was told to read everything anew, as its next event is not kept.",
              MetricKind::counter, number(lagged))};
}

}  // namespace schedmate::http
