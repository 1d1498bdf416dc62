// The product of two words, its halves together by exclusive or: a step of the keyed hash.
module halo_folded_product (
    input logic [63:0] a,
    input logic [63:0] b,
    output logic [63:0] folded
);

  logic [127:0] product;
  assign product = {64'd0, a} * {64'd0, b};
  assign folded = product[127:64] ^ product[63:0];

endmodule
