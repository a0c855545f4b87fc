// Bokeh asks the page's styles for every colour and width each time that it draws one (bokeh/bokeh#15286, in 3.9), and for the
// size of letters: the figures of one run of Many modes asked some ten thousand times, and whatever has changed on the page is styled
// anew for the first of them. No style here sets any colour or width of a figure, nor the size of its letters, so the answer is known.
;(() => {
  const mended = (name, part, mend) => {
    try { mend(self.Bokeh.require(name)[part].prototype) } catch { /* another Bokeh, which keeps it elsewhere, goes on asking */ }
  }
  mended('core/visuals/visual', 'VisualProperties', (visual) => { if (visual._get_css_value) visual._get_css_value = () => '' })
  mended('models/plots/plot_canvas', 'PlotView', (plot) => {
    const { get } = Object.getOwnPropertyDescriptor(plot, 'base_font_size'), sizes = new WeakMap()
    Object.defineProperty(plot, 'base_font_size', { configurable: true, get() {
      if (!sizes.has(this)) sizes.set(this, get.call(this))
      return sizes.get(this)
    } })
  })
})()
