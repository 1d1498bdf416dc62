// libFuzzer target: bytes as changes of rules and as packets of any bytes, against the loop over
// the rules. Every frame goes through the parser, so fields of any packet are asked for, too.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/base/assert.h"
#include "roost/classify/classifier.h"
#include "tests/base/byte_source.h"
#include "tests/classify/rule_model.h"

namespace roost::classify {
namespace {

class Run {
 public:
  explicit Run(ByteSource bytes) : bytes_(bytes), choices_(bytes_.next(1)) {}

  void all() {
    for (int step = 0; step < 200 && bytes_.size > 0; ++step) {
      switch (bytes_.next(1) % 8) {
        case 0:
        case 1:
          add();
          break;
        case 2:
          erase();
          break;
        case 3:
          classifier_.advance({++tick_});
          classifier_.maintain(16);
          break;
        default:
          ask(packet());
      }
    }
    ROOST_ASSERT(!classifier_.audit());
  }

 private:
  // A mask or a value: few words, so that rules meet packets.
  PacketFields fields() {
    PacketFields fields;
    uint64_t words = bytes_.next(2);
    for (size_t word = 0; word < kFieldWords; ++word, words >>= 1) {
      if ((words & 1) != 0) fields.words[word] = bytes_.next(1) * 0x0101'0101'0101'0101U;
    }
    return fields;
  }
  void add() {
    Rule rule{.mask = fields(), .priority = static_cast<uint16_t>(bytes_.next(1) % 4)};
    rule.value = fields() & rule.mask;
    rule.action = ++action_;
    model_.add(rule, classifier_.add(rule).value());
  }
  void erase() {
    if (model_.rules().empty()) return;
    const RuleId id = model_.erase(bytes_.next(1) % model_.rules().size());
    ROOST_ASSERT(classifier_.erase(id) && classifier_.find(id) == nullptr);
  }
  PacketFields packet() {
    if (bytes_.next(1) % 2 == 0) return fields();
    std::vector<uint8_t> frame(bytes_.next(1) % 96);
    for (uint8_t& byte : frame) byte = static_cast<uint8_t>(bytes_.next(1));
    const auto size = static_cast<uint32_t>(frame.size());
    const net::Packet packet{.data = frame.data(), .contiguous_bytes = size, .total_bytes = size};
    net::ParsedPacket parsed;
    const net::ParseVerdict verdict = net::parse(packet, parsed);
    PacketFields fields;
    if (has_fields(verdict)) read_fields(packet, parsed, verdict, 0, fields);
    return fields;
  }
  void ask(const PacketFields& packet) {
    const RuleModel::Entry* winner = model_.winner(packet);
    const Answer expected =
        winner == nullptr ? Answer{} : Answer{winner->id.index, winner->rule.action};
    ROOST_ASSERT(classifier_.explain(packet).answer == expected);
    for (int repeat = 0; repeat < 2; ++repeat) {
      Answer answer;
      const uint32_t bytes = 60;
      classifier_.classify({&packet, 1}, {&bytes, 1}, {&answer, 1});
      ROOST_ASSERT(answer == expected);
    }
  }

  ByteSource bytes_;
  uint64_t choices_;
  Classifier classifier_ = Classifier::create({.cache_entries = (choices_ & 1) != 0 ? 4u : 0u,
                                               .has_megaflows = (choices_ & 2) != 0,
                                               .megaflows_max = 8,
                                               .megaflow_masks_max = 4,
                                               .megaflow_idle_ticks = 2,
                                               .hash_seed = 1,
                                               .digest_bits = (choices_ & 4) != 0 ? 64u : 1u})
                               .value();
  RuleModel model_;
  uint32_t action_ = 0;
  uint64_t tick_ = 0;
};

}  // namespace
}  // namespace roost::classify

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  roost::classify::Run({data, size}).all();
  return 0;
}
