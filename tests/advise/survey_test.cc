// Surveys of captures whose connections are known: counts, seconds, silences, and what is refused.
#include "apps/advise/survey.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/advise/capture_writer.h"

namespace roost::advise {
namespace {

using net::tcp::kAck;
using net::tcp::kSyn;

Survey survey_of(CaptureWriter& capture, const SurveyOptions& options = {}) {
  capture.close();
  auto survey = survey_capture(capture.path(), options);
  EXPECT_TRUE(survey.ok()) << survey.error().message;
  return std::move(survey).value();
}

size_t step_of(uint32_t seconds) {
  return static_cast<size_t>(std::ranges::find(kLadderSeconds, seconds) - kLadderSeconds.begin());
}

TEST(Survey, counts_connections_by_their_seconds) {
  CaptureWriter capture("counts.pcap");
  capture.add_handshake(0.1, 2'000);
  capture.add({.seconds = 1.5, .client = 3'000, .is_udp = true});
  capture.add({.seconds = 1.6, .client = 3'000, .is_answer = true, .is_udp = true});
  capture.add({.seconds = 2.5, .client = 4'000, .is_udp = true, .is_ipv6 = true});
  capture.add_close(4.1, 2'000);
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.packets, 8U);
  EXPECT_EQ(survey.connections, 3U);
  EXPECT_EQ(survey.udp_connections, 2U);
  EXPECT_EQ(survey.ipv6_connections, 1U);
  EXPECT_EQ(survey.families(), Families::kBoth);
  ASSERT_EQ(survey.by_second.size(), 5U);  // by the time since the first packet
  EXPECT_EQ(survey.by_second[0].begun, 1U);
  EXPECT_EQ(survey.by_second[1].begun, 1U);
  EXPECT_EQ(survey.by_second[2].begun, 1U);
  EXPECT_EQ(survey.by_second[4].over[kTcpClosed], 1U);
  EXPECT_EQ(survey.alive_by_second(), (std::vector<uint64_t>{1, 2, 2, 1, 1}));
  EXPECT_EQ(survey.packets_each.total(), 3U);
  EXPECT_EQ(survey.packets_each.greatest(), 5U);
}

TEST(Survey, a_silence_that_ends_is_one_that_a_shorter_timeout_would_have_cut) {
  CaptureWriter capture("silence.pcap");
  capture.add_handshake(0, 2'000);
  capture.add_handshake(0.5, 2'001);  // silent to the end
  capture.add({.seconds = 1, .client = 3'000, .is_udp = true});
  capture.add({.seconds = 8, .client = 3'000, .is_udp = true});
  capture.add({.seconds = 25, .client = 2'000});  // 25 s after the last packet, but for 20 ms
  capture.add({.seconds = 26, .client = 2'000});
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.connections, 3U);
  EXPECT_EQ(survey.under[kTcpEstablished], 2U);
  EXPECT_EQ(survey.cut_by(kTcpEstablished, step_of(20)), 1U);
  EXPECT_EQ(survey.cut_by(kTcpEstablished, step_of(1)), 1U);
  EXPECT_EQ(survey.cut_by(kTcpEstablished, step_of(30)), 0U);
  EXPECT_EQ(survey.cut_by(kUdp, step_of(5)), 1U);
  EXPECT_EQ(survey.cut_by(kUdp, step_of(10)), 0U);
  EXPECT_EQ(survey.cut_by(kTcpSyn, step_of(1)), 0U);
}

TEST(Survey, a_handshake_has_its_time_from_its_first_packet) {
  CaptureWriter capture("handshake.pcap");
  capture.add({.seconds = 0, .client = 2'000, .flags = kSyn});
  capture.add({.seconds = 4, .client = 2'000, .flags = kSyn});
  capture.add({.seconds = 8, .client = 2'000, .flags = kSyn});
  capture.add({.seconds = 12, .client = 2'000, .is_answer = true, .flags = kSyn | kAck});
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.connections, 1U);
  EXPECT_EQ(survey.cut_by(kTcpSyn, step_of(10)), 1U);
  EXPECT_EQ(survey.cut_by(kTcpSyn, step_of(15)), 0U);
  EXPECT_EQ(survey.under[kTcpEstablished], 0U);
}

TEST(Survey, a_syn_after_the_end_begins_another_connection) {
  CaptureWriter capture("again.pcap");
  for (const double second : {0.0, 10.0}) {
    capture.add_handshake(second, 2'000);
    capture.add_close(second + 1, 2'000);
  }
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.connections, 2U);
  EXPECT_EQ(survey.under[kTcpClosed], 2U);
  EXPECT_EQ(survey.cut_by(kTcpClosed, step_of(1)), 0U);
}

TEST(Survey, an_answer_that_comes_first_is_its_servers) {
  CaptureWriter capture("answer.pcap");
  capture.add({.seconds = 0, .client = 2'000, .is_answer = true, .flags = kSyn | kAck});
  capture.add({.seconds = 1, .client = 2'000});
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.connections, 1U);
  EXPECT_EQ(survey.under[kTcpEstablished], 1U) << "a server that answers knows its client";
  EXPECT_EQ(survey.under[kTcpSyn], 0U);
}

TEST(Survey, where_servers_are_not_seen_their_fin_is_not_waited_for) {
  CaptureWriter capture("dsr.pcap");
  capture.add({.seconds = 0, .client = 2'000, .flags = kSyn});
  for (int i = 1; i < 5; ++i) capture.add({.seconds = 0.1 * i, .client = 2'000});
  capture.add({.seconds = 1, .client = 2'000, .flags = net::tcp::kFin | kAck});
  const Survey seen = survey_of(capture);
  EXPECT_EQ(seen.under[kTcpEstablished], 0U) << "nobody answered";
  const Survey unseen = survey_of(capture, {.is_reply_unseen = true});
  EXPECT_EQ(unseen.under[kTcpEstablished], 1U);
}

TEST(Survey, says_what_it_could_not_follow) {
  CaptureWriter capture("full.pcap");
  for (uint16_t client = 0; client < 100; ++client)
    capture.add({.seconds = 0.01 * client,
                 .client = static_cast<uint16_t>(2'000 + client),
                 .is_udp = true});
  const Survey survey = survey_of(capture, {.connections_max = 64});
  EXPECT_EQ(survey.connections, 64U);
  EXPECT_EQ(survey.untracked_packets, 36U);
  EXPECT_EQ(survey.counted_packets(), 64U);
}

// An hour's silence is forgotten, and its place is free again.
TEST(Survey, connections_give_their_places_back) {
  CaptureWriter capture("places.pcap");
  for (int i = 0; i < 5; ++i)
    for (uint16_t client = 0; client < 60; ++client)
      capture.add({.seconds = 4'000.0 * i + 0.01 * client,
                   .client = static_cast<uint16_t>(2'000 + 100 * i + client),
                   .is_udp = true});
  const Survey survey = survey_of(capture, {.connections_max = 64});
  EXPECT_EQ(survey.connections, 300U);
  EXPECT_EQ(survey.untracked_packets, 0U);
}

TEST(Survey, advises_the_shortest_timeout_that_cuts_one_in_a_thousand) {
  CaptureWriter capture("advice.pcap");
  const auto add_all = [&](double seconds, uint16_t first, uint16_t end) {
    for (uint16_t client = first; client < end; ++client)
      capture.add(
          {.seconds = seconds, .client = static_cast<uint16_t>(2'000 + client), .is_udp = true});
  };
  add_all(0, 0, 2'000);
  add_all(12, 2, 2'000);
  add_all(17, 0, 2);  // two are silent for longer
  add_all(45, 0, 1);  // and one of these for longer still
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.cut_by(kUdp, step_of(10)), 2'000U);
  EXPECT_EQ(survey.cut_by(kUdp, step_of(15)), 2U);
  EXPECT_EQ(survey.cut_by(kUdp, step_of(20)), 1U);
  EXPECT_EQ(advised_timeouts(survey)[kUdp], 15);
  EXPECT_EQ(advised_timeouts(survey)[kTcpEstablished], 900) << "there was none";
}

TEST(Survey, advises_no_timeout_that_a_retransmission_may_outlast) {
  CaptureWriter capture("floor.pcap");
  for (int second = 0; second < 60; ++second)
    capture.add({.seconds = second * 1.0, .client = 2'000, .is_udp = true});
  EXPECT_EQ(advised_timeouts(survey_of(capture))[kUdp], 10);
}

TEST(Survey, of_a_short_capture_no_long_timeout_is_advised) {
  CaptureWriter capture("short.pcap");
  capture.add({.seconds = 0, .client = 2'000, .is_udp = true});
  capture.add({.seconds = 3.5, .client = 2'000, .is_udp = true});
  const Survey survey = survey_of(capture);
  EXPECT_EQ(advised_timeouts(survey)[kUdp], 60) << "a candidate of 5 s was not seen to hold";
}

TEST(Survey, what_a_table_holds_follows_its_timeouts) {
  Survey survey;
  survey.by_second.resize(100);
  for (SecondCounts& second : survey.by_second) {
    second.begun = 10;
    second.over[kUdp] = 10;
  }
  survey.connections = 1'000;
  TimeoutSeconds timeouts = default_timeout_seconds();
  timeouts[kUdp] = 20;
  // Of this second, and of the 25 before it until a sweep comes by.
  EXPECT_EQ(survey.held_peak(timeouts, 1), 10U * 26);
  timeouts[kUdp] = 200;  // as if it went on
  EXPECT_EQ(survey.held_peak(timeouts, 1), 10U + 10 * 205);
  EXPECT_EQ(survey.held_peak(timeouts, 10), 10U + 10 * 210);
}

TEST(Survey, a_load_is_that_of_the_busiest_seconds) {
  CaptureWriter capture("load.pcap");
  for (uint16_t client = 0; client < 10; ++client)
    capture.add({.seconds = 1.5, .client = static_cast<uint16_t>(2'000 + client), .is_udp = true});
  capture.add({.seconds = 0, .client = 3'000, .is_udp = true});  // stamped before: it counts then
  capture.add({.seconds = 9, .client = 2'000, .is_udp = true});
  const Survey survey = survey_of(capture);
  const Workload workload = workload_of(survey, default_timeout_seconds(), 1);
  EXPECT_EQ(workload.connections, 11U);
  EXPECT_EQ(workload.new_per_second, 11);
  EXPECT_EQ(workload.packets_per_second, 11);
  EXPECT_EQ(workload.udp_share, 1);
  EXPECT_NEAR(workload.packets_of_each(), 12.0 / 11, 1e-9);
}

TEST(Survey, refuses_what_says_nothing) {
  const auto error_of = [](CaptureWriter& capture) {
    capture.close();
    const auto survey = survey_capture(capture.path(), {});
    EXPECT_FALSE(survey.ok());
    return survey.ok() ? std::string() : survey.error().message;
  };
  CaptureWriter empty("empty.pcap");
  EXPECT_NE(error_of(empty).find("no connection of TCP or UDP among its 0 packets"),
            std::string::npos);
  CaptureWriter arp("arp.pcap");
  const std::array<uint8_t, 60> frame{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6};
  arp.add_frame(0, frame);
  EXPECT_NE(error_of(arp).find("among its 1 packets"), std::string::npos);
  CaptureWriter cooked("cooked.pcap", 113);
  EXPECT_NE(error_of(cooked).find("link type"), std::string::npos);
  CaptureWriter jump("jump.pcap");
  jump.add({.seconds = 0, .is_udp = true});
  jump.add({.seconds = 40 * 86'400.0, .is_udp = true});
  EXPECT_NE(error_of(jump).find("packet 2 is stamped 31 days or more after the first one"),
            std::string::npos);
  EXPECT_FALSE(survey_capture(testing::TempDir() + "nowhere.pcap", {}).ok());
}

TEST(Survey, a_file_that_is_cut_is_surveyed_to_the_cut) {
  CaptureWriter capture("cut.pcap");
  capture.add({.seconds = 0, .is_udp = true});
  capture.write_bytes("cut");
  const Survey survey = survey_of(capture);
  EXPECT_EQ(survey.connections, 1U);
  EXPECT_TRUE(survey.cut_reason);
}

}  // namespace
}  // namespace roost::advise
