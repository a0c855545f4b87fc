"""Components with JavaScript of their own: transport, tiles, slider, read-outs, notices."""
