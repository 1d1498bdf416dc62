// A Parrot table as P4-16 for v1model. Rendered by Roost.
// NOT TESTED: no P4 compiler has read this text, and no switch has run it. The same steps ran as a
// DPDK SWX pipeline.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    bit<48> address;
    bit<8> found;
    bit<32> bucket;
    bit<32> entry;
    bit<48> stash_key;
    bit<8> seed;
    bit<32> low;
    bit<48> part;
    bit<8> crc;
    bit<32> index;
    bit<48> slot_key;
    bit<16> value;
    bit<16> port;
}

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control VerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    register<bit<8>>(32w2) seeds;
    register<bit<16>>(32w8) values;
    register<bit<32>>(32w2) stash_first;
    register<bit<48>>(32w3) stash_keys;
    register<bit<16>>(32w3) stash_values;
    register<bit<8>>(32w256) crc8;

    action keep() { }
    action set_bucket(bit<32> to) {
        meta.bucket = to;
    }
    action set_value(bit<16> to) {
        meta.found = 8w1;
        meta.value = to;
    }

    table overflow {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            set_value;
            keep;
        }
        default_action = keep();
        size = 1;
    }

    table ranges {
        key = {
            hdr.ethernet.dst_addr : lpm;
        }
        actions = {
            set_bucket;
            keep;
        }
        default_action = keep();
        size = 5;
    }

    apply {
        meta.address = hdr.ethernet.dst_addr;
        meta.found = 8w0x0;
        overflow.apply();
        if (meta.found == 8w0x0) {
            ranges.apply();
            stash_first.read(meta.entry, meta.bucket);
            if (meta.entry != 32w0x0) {
                stash_keys.read(meta.stash_key, meta.entry);
                if (meta.stash_key == meta.address) {
                    stash_values.read(meta.value, meta.entry);
                    meta.found = 8w0x1;
                }
            }
            if (meta.found == 8w0x0) {
                seeds.read(meta.seed, meta.bucket);
                meta.low = (bit<32>) meta.address;
                meta.low = meta.low + (bit<32>) meta.seed;
                meta.crc = 8w0x0;
                meta.part = meta.address;
                meta.part = meta.part >> 40;
                meta.crc = meta.crc ^ (bit<8>) meta.part;
                crc8.read(meta.crc, (bit<32>) meta.crc);
                meta.part = meta.address;
                meta.part = meta.part >> 32;
                meta.crc = meta.crc ^ (bit<8>) meta.part;
                crc8.read(meta.crc, (bit<32>) meta.crc);
                meta.part = (bit<48>) meta.low;
                meta.part = meta.part >> 24;
                meta.crc = meta.crc ^ (bit<8>) meta.part;
                crc8.read(meta.crc, (bit<32>) meta.crc);
                meta.part = (bit<48>) meta.low;
                meta.part = meta.part >> 16;
                meta.crc = meta.crc ^ (bit<8>) meta.part;
                crc8.read(meta.crc, (bit<32>) meta.crc);
                meta.part = (bit<48>) meta.low;
                meta.part = meta.part >> 8;
                meta.crc = meta.crc ^ (bit<8>) meta.part;
                crc8.read(meta.crc, (bit<32>) meta.crc);
                meta.part = (bit<48>) meta.low;
                meta.crc = meta.crc ^ (bit<8>) meta.part;
                crc8.read(meta.crc, (bit<32>) meta.crc);
                meta.part = (bit<48>) meta.crc;
                meta.part = meta.part >> 3;
                meta.crc = meta.crc >> 6;
                meta.crc = meta.crc + (bit<8>) meta.part;
                meta.crc = meta.crc & 8w0x3;
                meta.index = meta.bucket;
                meta.index = meta.index << 2;
                meta.index = meta.index + (bit<32>) meta.crc;
                values.read(meta.value, meta.index);
                if (meta.value != 16w0xffff) {
                    meta.found = 8w0x1;
                }
            }
        }
        meta.port = 16w0xffff;
        if (meta.found == 8w0x1) {
            if (meta.value < 16w0x10) {
                meta.port = meta.value;
            }
        }
        if (meta.port == 16w0xffff) {
            mark_to_drop(standard_metadata);
        } else {
            standard_metadata.egress_spec = (bit<9>) meta.port;
        }
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control ComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PacketDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(PacketParser(), VerifyChecksum(), Ingress(), Egress(), ComputeChecksum(),
         PacketDeparser()) main;
