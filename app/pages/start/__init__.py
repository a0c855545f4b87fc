"""Page "Start": what λ is, in one picture that moves."""
