// The table of a query: of the line of metadata that the chosen place holds.
module halo_table_select #(
    parameter int PLACES = 10,
    parameter int LINES = 10
) (
    input logic [PLACES-1:0] chosen,
    input logic [PLACES*LINES-1:0] metadata,
    input logic [LINES*halo::TABLE_WIDTH-1:0] tables,
    output halo::table_t entry
);

  logic [LINES-1:0] line;
  halo_select #(
      .WIDTH(LINES),
      .COUNT(PLACES)
  ) select_line (
      .chosen(chosen),
      .items (metadata),
      .item  (line)
  );
  halo_select #(
      .WIDTH(halo::TABLE_WIDTH),
      .COUNT(LINES)
  ) select_table (
      .chosen(line),
      .items (tables),
      .item  (entry)
  );

endmodule
