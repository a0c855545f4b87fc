"""What is observed of the chains besides their loss. One file each."""
