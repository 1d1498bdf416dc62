// From a hash to both of a key's buckets, of 2^bucket_bits: the uppermost bits of the hash, and
// what remains of an odd number that the tag alone decides (roost/hash/bucket_map.h).
module halo_bucket_map (
    // Lower bits lead to no bucket.
    // verilator lint_off UNUSEDSIGNAL
    input logic [63:0] hash,
    input logic [63:0] spread,  // the tag times the golden ratio
    // verilator lint_on UNUSEDSIGNAL
    input logic [5:0] bucket_bits,
    output logic [halo::BUCKET_BITS-1:0] primary,
    output logic [halo::BUCKET_BITS-1:0] secondary
);

  localparam int BITS = halo::BUCKET_BITS;

  logic [5:0] shift;
  logic [BITS-1:0] mask;
  logic [BITS-1:0] sum;
  assign shift = 6'(BITS) - bucket_bits;
  assign mask = {BITS{1'b1}} >> shift;
  assign primary = hash[63-:BITS] >> shift;
  assign sum = (spread[63-:BITS] >> shift) | BITS'(1);
  assign secondary = (sum - primary) & mask;

endmodule
