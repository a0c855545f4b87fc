// Switches the curve of a legend entry on and off: its rows are left out of every renderer, and its mark is pale.
// Bokeh hands in the legend, the renderers and the marks.
const hidden = legend.tags[0] ?? [], key = cb_obj.item.name
const now = hidden.includes(key) ? hidden.filter((k) => k !== key) : [...hidden, key]
legend.tags = [now]
for (const renderer of renderers) {
  renderer.view.filter.booleans = Array.from(renderer.data_source.data.key, (k) => !now.includes(k))
}
marks.data = {...marks.data, alpha: Array.from(marks.data.key, (k) => now.includes(k) ? 0.2 : 1)}
