"""One match on duplicate deals: who sits where, the play, what is counted, the result."""
