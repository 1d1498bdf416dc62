// Health checks by HTTP, against nginx and against servers that say what none should.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "roost/control/health_checker.h"
#include "tests/control/health_targets.h"
#include "tests/control/program.h"

namespace roost::control {
namespace {

constexpr const char* kPages = R"(
  listen PORT;
  location = /up { return 200 "all is well\n"; }
  location = /moved { return 302 /up; }
  location = /down { return 503 "not now\n"; }
  location = /host { return 200 "host $http_host, method $request_method\n"; }
  location = /query { return 200 "query $args\n"; }
)";

std::string answered(const Nginx& nginx, const HttpCheck& check) {
  return failure_of(target_at(nginx.port(), check));
}

TEST(http_checks, a_status_is_good_if_it_is_in_a_range) {
  const Nginx nginx(kPages);
  EXPECT_EQ(answered(nginx, {.path = "/up"}), "");
  EXPECT_EQ(answered(nginx, {.path = "/moved"}), "") << "and it is not followed";
  EXPECT_EQ(answered(nginx, {.path = "/down"}), "status 503 instead of 200-399");
  EXPECT_EQ(answered(nginx, {.path = "/nowhere"}), "status 404 instead of 200-399");
  EXPECT_EQ(answered(nginx, {.path = "/moved", .statuses = {{200, 200}}}),
            "status 302 instead of 200");
  EXPECT_EQ(answered(nginx, {.path = "/down", .statuses = {{200, 200}, {500, 503}}}), "");
  EXPECT_EQ(answered(nginx, {.path = "/up", .statuses = {{201, 399}, {100, 199}}}),
            "status 200 instead of 201-399, 100-199");
}

TEST(http_checks, a_body_has_to_contain_the_text) {
  const Nginx nginx(kPages);
  EXPECT_EQ(answered(nginx, {.path = "/up", .body = "is well"}), "");
  EXPECT_EQ(answered(nginx, {.path = "/up", .body = "is ill"}),
            "its body does not contain \"is ill\"");
  EXPECT_EQ(answered(nginx, {.path = "/down", .body = "not now"}), "status 503 instead of 200-399")
      << "a good body does not mend a bad status";
  EXPECT_EQ(answered(nginx, {.path = "/down", .statuses = {{503, 503}}, .body = "not now"}), "");
}

TEST(http_checks, a_server_is_told_the_host_the_method_and_the_whole_path) {
  const Nginx nginx(kPages);
  const std::string port = std::to_string(nginx.port());
  EXPECT_EQ(answered(nginx, {.path = "/host", .body = "host 127.0.0.1:" + port + ", method GET"}),
            "");
  EXPECT_EQ(answered(nginx, {.path = "/host",
                             .host = "www.example.org",
                             .body = "host www.example.org, method GET"}),
            "");
  EXPECT_EQ(answered(nginx, {.path = "/query?a=b&c", .body = "query a=b&c"}), "");
  EXPECT_EQ(answered(nginx, {.path = "/up", .is_head = true}), "");
  EXPECT_EQ(answered(nginx, {.path = "/down", .is_head = true}), "status 503 instead of 200-399");
  Server head(0, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(failure_of(target_at(head.port(), HttpCheck{.path = "/a#b/../c", .is_head = true})),
            "");
  EXPECT_TRUE(head.end().starts_with("HEAD /a#b/../c HTTP/1.1\r\n"));
}

TEST(http_checks, a_text_is_found_wherever_the_body_is_cut) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const HttpCheck check = {.body = "needle"};
  Server chunks(0, head + "3\r\nnee\r\n2\r\ndl\r\n4\r\ne ha\r\n0\r\n\r\n");
  EXPECT_EQ(failure_of(target_at(chunks.port(), check)), "");
  Server bytes(0, head + "4\r\nhay \r\n6\r\nneedle\r\n1\r\nx\r\n", Server::Manner::kDrips);
  EXPECT_EQ(failure_of(target_at(bytes.port(), check)), "") << "and the rest does not count";
  Server across(0, head + "3\r\nnee\r\n3\r\nned\r\n0\r\n\r\n");
  EXPECT_EQ(failure_of(target_at(across.port(), check)), "its body does not contain \"needle\"");
  Server cut(0, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhay");
  EXPECT_NE(failure_of(target_at(cut.port(), check)), "");
  Server cut_behind(0, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhay needle");
  EXPECT_EQ(failure_of(target_at(cut_behind.port(), check)), "");
}

TEST(http_checks, no_answer_is_read_without_end) {
  Server body(0, "HTTP/1.1 200 OK\r\n\r\n" + std::string(10'000, 'x'), Server::Manner::kRepeats);
  EXPECT_EQ(failure_of(target_at(body.port(), HttpCheck{.body = "needle"})),
            "the first 64 KiB of its body do not contain \"needle\"");
  EXPECT_EQ(failure_of(target_at(body.port(), HttpCheck{})), "") << "no text is wanted";
  Server interim(0, "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n", Server::Manner::kRepeats);
  EXPECT_EQ(failure_of(target_at(interim.port(), HttpCheck{})),
            "the headers of its answer are longer than 64 KiB");
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 10'000; ++i) many += "Header: value\r\n";
  Server headers(0, many + "\r\n");
  EXPECT_EQ(failure_of(target_at(headers.port(), HttpCheck{})),
            "the headers of its answer are longer than 64 KiB");
  Server line(0, std::string(1'000'000, 'x'));
  EXPECT_NE(failure_of(target_at(line.port(), HttpCheck{})), "");
}

TEST(http_checks, who_answers_byte_by_byte_is_out_of_time_as_who_says_nothing) {
  Server slow(0, "HTTP/1.1 200 OK\r\n" + std::string(100'000, 'x'), Server::Manner::kDrips);
  HealthTarget target = target_at(slow.port(), HttpCheck{});
  target.timeout = std::chrono::milliseconds(100);
  EXPECT_EQ(failure_of(target), "timed out after 0.1 s");
}

TEST(http_checks, what_is_no_answer_is_bad_whatever_its_bytes) {
  const std::string zeroes(40, '\0');
  for (const std::string& answer : std::vector<std::string>{
           "hello\r\n", "\r\n\r\n", zeroes, "HTTP/1.1 \xff\xfe\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 200", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 99999999999999999999 OK\r\n\r\n",
           "HTTP/7.7 200 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", std::string(4'096, 'x'),
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"}) {
    Server server(0, answer);
    const std::string failure = failure_of(target_at(server.port(), HttpCheck{.body = "well"}));
    EXPECT_NE(failure, "") << answer;
    EXPECT_TRUE(std::ranges::all_of(failure, [](char c) { return c >= ' ' && c <= '~'; }))
        << failure;
  }
  Server silent(0);
  EXPECT_NE(failure_of(target_at(silent.port(), HttpCheck{})), "") << "it closes at once";
  Server chunks(0, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  EXPECT_NE(failure_of(target_at(chunks.port(), HttpCheck{.body = "z"})), "");
}

TEST(http_checks, a_reason_is_ascii_whatever_was_wanted) {
  Server server(0, "HTTP/1.1 200 OK\r\n\r\nno");
  EXPECT_EQ(failure_of(target_at(server.port(), HttpCheck{.body = "\xff\n"})),
            "its body does not contain \"\\xff\\x0a\"");
}

TEST(http_checks, proxies_of_the_environment_do_not_count) {
  Server server(0, "HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_EQ(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
  EXPECT_EQ(failure_of(target_at(server.port(), HttpCheck{})), "");
  ASSERT_EQ(unsetenv("http_proxy"), 0);
}

TEST(http_checks, a_thousand_targets_take_no_thread_and_no_connection_beyond_a_check) {
  const Nginx nginx(kPages);
  constexpr size_t kCount = 1'000;
  std::vector<HealthTarget> targets(kCount, target_at(nginx.port(), HttpCheck{.path = "/up"}));
  for (HealthTarget& target : targets) {
    target.is_well = false;
    target.interval = std::chrono::seconds(1);
    target.rise = 1;
  }
  std::vector<Verdicts> verdicts(kCount);
  const HealthChecker checker(std::move(targets),
                              [&](size_t target, bool is_well, const std::string& failure) {
                                return verdicts[target].note(is_well, failure);
                              });
  for (Verdicts& one : verdicts) EXPECT_EQ(one.at(0).failure, "");
}

}  // namespace
}  // namespace roost::control
