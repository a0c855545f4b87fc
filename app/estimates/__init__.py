"""What the pages that estimate λ share: figures, words, comparison, going on."""
