"""One match on duplicate deals: the lineup, the play, what is counted, and the result."""
