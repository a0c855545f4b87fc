// The first element that a selector finds, inside the shadow roots of other elements too.
const findDeep = (root, selector) => {
  const found = root.querySelector(selector)
  if (found) return found
  for (const element of root.querySelectorAll('*')) {
    const inside = element.shadowRoot && findDeep(element.shadowRoot, selector)
    if (inside) return inside
  }
  return null
}
