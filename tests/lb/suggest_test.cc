// The suggested configuration: of any capture it is one that the checker accepts and that lets the
// capture's packets through; of any bytes it is that or a refusal.
#include "apps/lb/config/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "roost/capture/contacts.h"
#include "tests/base/step_count.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

using Frames = std::vector<std::vector<uint8_t>>;

std::string little_endian(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

std::string capture_bytes(const Frames& frames, uint32_t link_type = 1) {
  std::string bytes = little_endian(0xa1b2c3d4) + std::string("\2\0\4\0", 4) +
                      std::string(8, '\0') + little_endian(262'144) + little_endian(link_type);
  for (const auto& frame : frames) {
    const auto size = static_cast<uint32_t>(frame.size());
    bytes += little_endian(1) + little_endian(0) + little_endian(size) + little_endian(size);
    bytes.append(frame.begin(), frame.end());
  }
  return bytes;
}

Result<std::string> suggest(const std::string& bytes) {
  const std::string path = testing::TempDir() + "roost_suggest_test.pcap";
  std::ofstream(path, std::ios::binary) << bytes;
  Result<std::string> toml = suggest_config(path);
  std::filesystem::remove(path);
  return toml;
}

PacketSpec between(const std::string& client, const std::string& server, uint16_t port) {
  return {.source_mac = "52:54:00:00:00:01",
          .destination_mac = "52:54:00:00:00:02",
          .source = client,
          .destination = server,
          .destination_port = port};
}

PacketSpec answered(PacketSpec spec) {
  std::swap(spec.source, spec.destination);
  std::swap(spec.source_port, spec.destination_port);
  spec.tcp_flags = net::tcp::kSyn | net::tcp::kAck;
  return spec;
}

TEST(suggest, makes_services_of_whom_clients_contact_and_lets_them_through) {
  Frames frames;
  for (uint16_t i = 0; i < 20; ++i) {
    PacketSpec web = between("172.16.0." + std::to_string(1 + i), "203.0.113.80", 443);
    frames.push_back(make_frame(web));
    frames.push_back(make_frame(answered(web)));
    PacketSpec web6 = between("2001:db8:77::5", "2001:db8:99::80", 80);
    web6.source_port = static_cast<uint16_t>(50'000 + i);
    if (i < 10) frames.push_back(make_frame(web6));
    PacketSpec dns = between("172.16.0.9", "203.0.113.53", 53);
    dns.protocol = net::IpProtocol::kUdp;
    if (i < 5) frames.push_back(make_frame(dns));
  }
  const Result<std::string> toml = suggest(capture_bytes(frames));
  ASSERT_TRUE(toml.ok()) << toml.error().message;
  const ConfigOutcome outcome = parse_config(toml.value());
  ASSERT_TRUE(outcome.config.has_value()) << describe(outcome.faults.at(0), "") << toml.value();
  const auto& services = outcome.config->services;
  ASSERT_EQ(services.size(), 3U);
  EXPECT_EQ(services[0].name, "tcp-203.0.113.80-443");
  EXPECT_EQ(services[1].name, "tcp-2001:db8:99::80-80");
  EXPECT_EQ(services[2].name, "udp-203.0.113.53-53");
  for (const ServiceConfig& service : services) EXPECT_EQ(service.backends.size(), 3U);
  EXPECT_NE(toml.value().find("invented"), std::string::npos) << "it must say so";

  TestBalancer balancer(toml.value());
  uint64_t sent = 0;
  for (const auto& frame : frames) sent += !balancer.send({frame, 0, 128, {}}).cause;
  EXPECT_EQ(sent, 35U) << "every packet of a client";
  const Report report = balancer.report();
  EXPECT_EQ(report.run.drops[drop_cause::kNoService], 20U) << "the answers";
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST(suggest, a_syn_tells_the_server_even_on_a_high_port) {
  Frames frames;
  PacketSpec syn = between("172.16.0.1", "203.0.113.80", 60'000);
  syn.source_port = 1'025;
  frames.push_back(make_frame(syn));
  syn.tcp_flags = net::tcp::kAck;
  for (int i = 0; i < 5; ++i) frames.push_back(make_frame(syn));
  PacketSpec back = answered(syn);
  back.tcp_flags = net::tcp::kAck;
  for (int i = 0; i < 50; ++i) frames.push_back(make_frame(back));
  const Result<std::string> toml = suggest(capture_bytes(frames));
  ASSERT_TRUE(toml.ok());
  const auto config = parse_config(toml.value()).config;
  ASSERT_EQ(config.value().services.size(), 1U);
  EXPECT_EQ(config.value().services[0].ports.first, 60'000);
}

TEST(suggest, keeps_to_eight_services_and_to_the_most_frequent_tags) {
  Frames frames;
  for (uint16_t server = 1; server <= 30; ++server) {
    for (uint16_t i = 0; i < server; ++i) {
      PacketSpec spec = between("172.16.0.1", "203.0.113." + std::to_string(server), 80);
      spec.vlan = {12};
      frames.push_back(make_frame(spec));
    }
  }
  for (int i = 0; i < 100; ++i) frames.push_back(make_frame(between("172.16.0.1", "1.2.3.4", 80)));
  const Result<std::string> toml = suggest(capture_bytes(frames));
  ASSERT_TRUE(toml.ok());
  const auto config = parse_config(toml.value()).config;
  ASSERT_EQ(config.value().services.size(), 8U);
  EXPECT_EQ(config.value().services[0].address.format(), "203.0.113.30");
  EXPECT_EQ(config.value().services[7].address.format(), "203.0.113.23");
  EXPECT_EQ(config.value().network.ports[0].vlan, std::vector<uint16_t>{12});
  TestBalancer balancer(toml.value());
  EXPECT_EQ(balancer.send({frames[464], 0, 128, {}}).cause, std::nullopt);
}

TEST(suggest, two_services_can_be_contacted_from_one_port) {
  const Frames frames = {make_frame(between("172.16.0.1", "203.0.113.80", 80)),
                         make_frame(between("172.16.0.1", "203.0.113.81", 80))};
  const Result<std::string> toml = suggest(capture_bytes(frames));
  ASSERT_TRUE(toml.ok());
  TestBalancer balancer(toml.value());
  for (uint16_t port = 1; port < 100; ++port) {  // some of them on the same backend
    PacketSpec spec = between("172.16.0.1", "203.0.113.80", 80);
    spec.source_port = port;
    EXPECT_EQ(balancer.send_from_client(spec).cause, std::nullopt);
    spec.destination = "203.0.113.81";
    EXPECT_EQ(balancer.send_from_client(spec).cause, std::nullopt);
  }
}

TEST(suggest, invents_networks_beside_the_services) {
  Frames frames = {make_frame(between("198.18.0.7", "198.18.0.11", 80)),
                   make_frame(between("2001:2::7", "2001:2::11", 80))};
  const Result<std::string> toml = suggest(capture_bytes(frames));
  ASSERT_TRUE(toml.ok());
  ASSERT_TRUE(parse_config(toml.value()).config.has_value()) << toml.value();
  EXPECT_NE(toml.value().find("\"198.18.1.1/24\""), std::string::npos) << toml.value();
  EXPECT_NE(toml.value().find("\"2001:2:0:1::1/64\""), std::string::npos) << toml.value();
}

TEST(suggest, refuses_what_it_can_make_nothing_of) {
  EXPECT_FALSE(suggest_config("/nowhere.pcap").ok());
  EXPECT_FALSE(suggest("").ok());
  EXPECT_FALSE(suggest("no capture at all, but long enough to be one").ok());
  EXPECT_FALSE(suggest(capture_bytes({})).ok());
  EXPECT_NE(suggest(capture_bytes({make_frame({})}, 101)).error().message.find("Ethernet"),
            std::string::npos);
  PacketSpec multicast = between("172.16.0.1", "239.1.2.3", 80);
  EXPECT_FALSE(suggest(capture_bytes({make_frame(multicast), {}, {1, 2, 3}})).ok());
}

TEST(suggest, of_damaged_captures_makes_a_right_configuration_or_none) {
  const uint64_t seed = 20'261'121;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  Frames frames;
  for (uint16_t i = 0; i < 40; ++i) {
    frames.push_back(make_frame(between("172.16.0.1", "203.0.113.80", i)));
    frames.push_back(make_frame(between("2001:db8::1", "2001:db8::80", i)));
  }
  const std::string whole = capture_bytes(frames);
  int accepted = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = whole;
    for (size_t i = random() % 200; i > 0; --i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    if (random() % 2 == 0)
      std::copy_n(whole.begin(), 24, bytes.begin());  // a right header at least
    const Result<std::string> toml = suggest(bytes);
    if (!toml) continue;
    ++accepted;
    const ConfigOutcome outcome = parse_config(toml.value());
    ASSERT_TRUE(outcome.config.has_value()) << "round " << round << "\n"
                                            << describe(outcome.faults.at(0), "") << "\n"
                                            << toml.value();
  }
  EXPECT_GT(accepted, 500);
}

TEST(contacts, memory_is_bounded_and_the_busiest_are_kept) {
  constexpr uint32_t kContacts = step_count(200'000);
  capture::Contacts contacts;
  const auto add = [&](const PacketSpec& spec) { contacts.add(make_frame(spec)); };
  for (uint32_t i = 0; i < kContacts; ++i) {
    const std::string server = "20." + std::to_string(i / 65'536) + "." +
                               std::to_string(i / 256 % 256) + "." + std::to_string(i % 256);
    add(between("172.16.0.1", server, 80));
    if (i % 100 == 0) add(between("172.16.0.1", "203.0.113.80", 80));
  }
  const std::vector<capture::ContactCount> most = contacts.most_contacted(1);
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].server.address.format(), "203.0.113.80");
  EXPECT_LE(most[0].contacts, kContacts / 100);
  EXPECT_GT(most[0].contacts, kContacts / 100 * 19 / 20);
}

}  // namespace
}  // namespace roost::lb
