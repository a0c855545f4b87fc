"""How things look: colours, layout, numbers, legends, formulas, figures."""
