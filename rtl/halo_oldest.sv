// Of the queries that want a unit, the one that has been in the scoreboard longest.
module halo_oldest #(
    parameter int PLACES = 10
) (
    input logic is_free,  // the unit takes one
    input logic [PLACES-1:0] wanted,
    input logic [PLACES*PLACES-1:0] older,
    output logic [PLACES-1:0] granted
);

  always_comb
    for (int i = 0; i < PLACES; i++)
      granted[i] = is_free && wanted[i] && (wanted & older[i*PLACES+:PLACES]) == '0;

endmodule
