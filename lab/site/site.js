// Formulas become MathML; what can be moved sideways can be reached with the keyboard.
for (const place of document.querySelectorAll('.math')) {
  katex.render(place.textContent, place, {displayMode: place.localName === 'div', output: 'mathml', throwOnError: false})
}

// The theme calls the captions of its menu headings, and says not of which rank.
for (const caption of document.querySelectorAll('.caption[role=heading]')) caption.setAttribute('aria-level', '2')

const named = [['pre', 'Code'], ['.table-wrapper', 'Table'], ['.output', 'Output'], ['div.math', 'Formula']]

function reach() {
  for (const [selector, name] of named) {
    for (const place of document.querySelectorAll(selector)) {
      if (place.scrollWidth <= place.clientWidth || place.hasAttribute('tabindex')) continue
      place.tabIndex = 0
      place.setAttribute('role', 'region')
      place.setAttribute('aria-label', name)
    }
  }
}

reach()
addEventListener('resize', reach)
addEventListener('toggle', reach, true)

// Together the figures of the papers are megabytes: each is asked for when it comes near. A script is read from a disk too.
const drawn = new ResizeObserver(reach)
const near = new IntersectionObserver(seen => {
  for (const {target} of seen.filter(entry => entry.isIntersecting)) {
    near.unobserve(target)
    drawn.observe(target)
    const script = document.createElement('script')
    script.src = target.dataset.figure
    document.head.append(script)
  }
}, {rootMargin: '800px'})
for (const place of document.querySelectorAll('[data-figure]')) near.observe(place)

// Browsers hand the clipboard to pages of https and of this machine, and to no others.
for (const code of navigator.clipboard ? document.querySelectorAll('div.highlight') : []) {
  const button = document.createElement('button')
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.querySelector('pre').textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  code.append(button)
}
