// CRC32C of BITS bits that begin with a CRC of zero; a CRC that there was before them is one of
// their first 32 bits by exclusive or. Reflected polynomial 82F63B78, no inversions.
//
// A CRC is linear: each of its bits is the parity of those bits that a row of a matrix picks.
module halo_crc32c #(
    parameter int BITS = 128
) (
    input logic [BITS-1:0] bits,
    output logic [31:0] crc
);

  // Row r of the matrix: bit i is bit r of the CRC of a one at i and zeroes.
  function automatic logic [BITS-1:0] row(input logic [4:0] r);
    logic [31:0] column;
    column = 32'd0;
    row = '0;
    // A one at the last place has been shifted once, one before it once more.
    for (int i = BITS - 1; i >= 0; i--) begin
      column = i == BITS - 1 ? 32'h82F63B78 : (column >> 1) ^ (column[0] ? 32'h82F63B78 : 32'd0);
      row[i] = column[r];
    end
  endfunction

  for (genvar r = 0; r < 32; r++) begin : g_bit
    localparam logic [BITS-1:0] ROW = row(5'(r));
    assign crc[r] = ^(bits & ROW);
  end

endmodule
