// The file as libpcap reads it; tests/lb/watch_test.py has it read by Wireshark's programs.
#include "roost/io/pcapng_file.h"

#include <gtest/gtest.h>
#include <pcap/pcap.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "roost/capture/summary.h"

namespace roost::io {
namespace {

class PcapngFileTest : public testing::Test {
 protected:
  PcapngFileTest() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/a.pcapng";
  }
  ~PcapngFileTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = "/tmp/roost-pcapng-XXXXXX";
  std::string path_;
};

TEST_F(PcapngFileTest, frames_of_every_length_come_back) {
  auto made = PcapngFile::create({.path = path_,
                                  .interfaces = {"a", "port-b"},
                                  .snap_bytes = 2'048,
                                  .application = "test",
                                  .filter = "tcp"});
  ASSERT_TRUE(made);
  PcapngFile file = std::move(made).value();
  std::vector<uint8_t> bytes;
  for (uint32_t length = 0; length < 70; ++length) {
    file.write({.interface = length % 2,
                .nanoseconds = 1'700'000'000'123'456'000U + uint64_t{length} * 1'000U,
                .direction = PcapngFile::Direction::kOut,
                .bytes = bytes,
                .total_bytes = length + 5,
                .comment = std::string(length, 'c')});
    bytes.push_back(static_cast<uint8_t>(length));
  }
  EXPECT_FALSE(file.finish(3));

  std::string reason(PCAP_ERRBUF_SIZE, '\0');
  pcap_t* reader = pcap_open_offline(path_.c_str(), reason.data());
  ASSERT_NE(reader, nullptr) << reason;
  EXPECT_EQ(pcap_datalink(reader), DLT_EN10MB);
  pcap_pkthdr* header = nullptr;
  const u_char* frame = nullptr;
  for (uint32_t length = 0; length < 70; ++length) {
    ASSERT_EQ(pcap_next_ex(reader, &header, &frame), 1);
    EXPECT_EQ(header->caplen, length);
    EXPECT_EQ(header->len, length + 5);
    EXPECT_EQ(header->ts.tv_sec, 1'700'000'000);
    EXPECT_EQ(header->ts.tv_usec, 123'456 + length);
    for (uint32_t i = 0; i < length; ++i) EXPECT_EQ(frame[i], i);
  }
  EXPECT_EQ(pcap_next_ex(reader, &header, &frame), PCAP_ERROR_BREAK);
  pcap_close(reader);
}

TEST_F(PcapngFileTest, a_file_without_frames_is_a_file) {
  auto made = PcapngFile::create({.path = path_, .interfaces = {"a"}, .snap_bytes = 100});
  ASSERT_TRUE(made);
  EXPECT_FALSE(made.value().finish(0));
  const auto summary = capture::summarize(path_);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary.value().packet_count, 0U);
  EXPECT_FALSE(summary.value().cut_reason);
}

TEST_F(PcapngFileTest, a_path_that_cannot_be_written_is_refused) {
  const auto made = PcapngFile::create({.path = folder_ + "/none/a.pcapng", .interfaces = {"a"}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("No such file"), std::string::npos);
}

TEST(PcapngFile, a_full_disk_is_told) {
  auto made = PcapngFile::create({.path = "/dev/full", .interfaces = {"a"}});
  ASSERT_TRUE(made);
  const auto error = made.value().finish(0);
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace roost::io
