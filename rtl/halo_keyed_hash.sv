// The keyed hash of a key (roost/hash/keyed_hash.h), 16 bytes a cycle: what it would take instead
// of CRC32C. halo_hash_unit does not have it: its 12 secret words are more than a metadata line
// holds.
//
//   1    16 bytes and what is known of the bytes before them, folded
//   2    the last fold, which is the hash
module halo_keyed_hash (
    input logic clk,
    input logic is_first,  // bytes of a key
    input logic [127:0] bytes,
    input logic [1:0] part,  // which of its 16 bytes
    input logic [3:0] words,  // of eight bytes, of the whole key
    input logic [12*64-1:0] secrets,
    output logic [63:0] hash  // two cycles after the last bytes
);

  logic [63:0] state;
  logic [63:0] earlier;
  logic [63:0] first_secret;
  logic [63:0] second_secret;
  logic has_one_word;
  logic [63:0] of_bytes;
  logic [63:0] of_state;
  logic [3:0] words_2;

  assign earlier = is_first ? secrets[8*64+:64] : state;
  always_comb begin
    first_secret = '0;
    second_secret = '0;
    for (int i = 0; i < 4; i++) begin
      if (part == 2'(i)) begin
        first_secret = secrets[128*i+:64];
        second_secret = secrets[128*i+64+:64];
      end
    end
  end
  assign has_one_word = {1'b0, part, 1'b0} + 4'd1 == words;
  halo_folded_product fold_bytes (
      .a(bytes[63:0] ^ first_secret),
      .b(earlier ^ (has_one_word ? secrets[9*64+:64] : bytes[127:64] ^ second_secret)),
      .folded(of_bytes)
  );
  halo_folded_product fold_state (
      .a(state ^ secrets[10*64+:64]),
      .b({60'd0, words_2} ^ secrets[11*64+:64]),
      .folded(of_state)
  );
  always_ff @(posedge clk) begin
    state <= of_bytes;
    words_2 <= words;
    hash <= of_state;
  end

endmodule
