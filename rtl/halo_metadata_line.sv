// A metadata line, unpacked (docs/decisions/0053). This unit looks keys up in tables of the split
// layout with CRC32C, whose bucket count is a power of two and whose padded keys have at most
// KEY_BYTES bytes; a line that says anything else is none of a table.
module halo_metadata_line #(
    parameter int KEY_BYTES = 16
) (
    // Bytes that this unit has no use for.
    // verilator lint_off UNUSEDSIGNAL
    input logic [511:0] line,
    // verilator lint_on UNUSEDSIGNAL
    output logic is_table,
    output halo::table_t entry
);

  localparam logic [7:0] SPLIT = 8'd3;
  localparam logic [7:0] CRC32C = 8'd1;
  localparam int ABOVE = 64 - halo::ADDRESS_BITS;

  logic [7:0] key_bytes;
  logic [7:0] padded_bytes;
  logic [7:0] value_bytes;
  logic [63:0] base;
  logic [63:0] limit;
  logic [63:0] buckets;
  logic [63:0] entries;
  assign key_bytes = line[2*8+:8];
  assign padded_bytes = line[3*8+:8];
  assign value_bytes = line[5*8+:8];
  assign base = line[8*8+:64];
  assign limit = line[16*8+:64];
  assign buckets = line[24*8+:64];
  assign entries = line[56*8+:64];

  // The next of the six padded sizes.
  logic [7:0] padded;
  always_comb begin
    padded = 8'd64;
    if (key_bytes <= 8'd40) padded = 8'd40;
    if (key_bytes <= 8'd32) padded = 8'd32;
    if (key_bytes <= 8'd24) padded = 8'd24;
    if (key_bytes <= 8'd16) padded = 8'd16;
    if (key_bytes <= 8'd8) padded = 8'd8;
  end

  logic [5:0] bucket_bits;
  logic is_power;
  always_comb begin
    bucket_bits = '0;
    is_power = 1'b0;
    for (int i = 1; i <= halo::BUCKET_BITS; i++)
      if (buckets == 64'd1 << i) begin
        bucket_bits = 6'(i);
        is_power = 1'b1;
      end
  end

  logic [halo::ADDRESS_BITS:0] room;  // from the base to the end of memory
  assign room = {1'b1, {halo::ADDRESS_BITS{1'b0}}} - {1'b0, base[halo::ADDRESS_BITS-1:0]};
  assign is_table = line[7:0] == SPLIT && line[15:8] == CRC32C && key_bytes != 8'd0 &&
      key_bytes <= 8'(KEY_BYTES) && padded_bytes == padded && padded <= 8'(KEY_BYTES) &&
      line[4*8+:8] == 8'd8 && is_power && base[5:0] == 6'd0 && entries[2:0] == 3'd0 &&
      base[63-:ABOVE] == '0 && entries[63-:ABOVE] == '0 && limit <= 64'(room);

  always_comb begin
    entry.key_bytes = key_bytes[6:0];
    entry.padded_bytes = padded_bytes[6:0];
    entry.entry_bytes = padded_bytes[6:0] + (value_bytes <= 8'd7 ? value_bytes[6:0] : 7'd0);
    entry.stride = {2'd0, padded_bytes[6:3]} + {1'b0, value_bytes[7:3]} + {5'd0, value_bytes[2:0] != 3'd0};
    entry.value_bytes = value_bytes;
    entry.has_mask = line[6*8];
    entry.has_filter = line[6*8+1];
    entry.stash_buckets = line[7*8+:8];
    entry.base_line = base[halo::ADDRESS_BITS-1:6];
    entry.limit = {1'b0, base[halo::ADDRESS_BITS-1:0]} + limit[halo::ADDRESS_BITS:0];
    entry.bucket_bits = bucket_bits;
    entry.seed = line[32*8+:64];
    entry.entries = entries[halo::ADDRESS_BITS-1:3];
    entry.mask_bytes = line[40*8+:64] & 64'({KEY_BYTES{1'b1}});
    entry.mask_parts = line[48*8+:64];
  end

`ifdef FORMAL
  always_comb
    if (is_table) begin
      assert ({entry.base_line, 6'd0} == base[halo::ADDRESS_BITS-1:0]);
      assert (65'(entry.limit) == 65'(base) + 65'(limit));
    end
`endif

endmodule
