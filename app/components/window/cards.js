// Cards of the page and the figures in them; a host is what an element lies in, across the roots of components.
const hostOf = (e) => e?.parentNode instanceof ShadowRoot ? e.parentNode.host : e?.parentNode
const cardsOf = (root) => {
  const found = []
  for (const element of root.querySelectorAll('*')) {
    if (element.classList.contains('lab-card')) found.push(element)
    if (element.shadowRoot) found.push(...cardsOf(element.shadowRoot))
  }
  return found
}
const cardOf = (element) => {
  for (let e = element; e; e = hostOf(e)) if (e.classList?.contains('lab-card')) return e
  return null
}
const lies = (card, other) => { // in the other, which is another one
  for (let e = hostOf(card); e; e = hostOf(e)) if (e === other) return true
  return false
}
const figuresIn = (card) => [...window.Bokeh.index.query((view) => view.model.type === 'Figure' && cardOf(view.el) === card)]
