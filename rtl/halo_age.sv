// Which of two queries has been in the scoreboard longer: a bit for each pair of places. So the
// oldest of those that want a unit is found without numbers that would run over.
module halo_age #(
    parameter int PLACES = 10
) (
    input logic clk,
    input logic [PLACES-1:0] admit,  // a query comes into this place
    output logic [PLACES*PLACES-1:0] older  // bit i * PLACES + j: what is in j is older than i's
);

  for (genvar i = 0; i < PLACES; i++) begin : g_row
    assign older[i*PLACES+i] = 1'b0;
    for (genvar j = i + 1; j < PLACES; j++) begin : g_pair
      logic is_second_older;
      // No reset: a pair is told apart when the second of it comes.
      always_ff @(posedge clk)
        if (admit[i]) is_second_older <= 1'b1;
        else if (admit[j]) is_second_older <= 1'b0;
      assign older[i*PLACES+j] = is_second_older;
      assign older[j*PLACES+i] = !is_second_older;
    end
  end

endmodule
