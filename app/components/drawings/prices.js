// chart.js stands before this in the same script.

const COLOURS = ['#E69F00', '#009E73', '#CC79A7', '#7A5195', '#4C8C2B', '#8C6D31', '#56B4E9', '#5E6472', '#B5179E']
const FIRST = 1, LAST = 5, DEAREST = 24 // log10 of n, log10 of n, prices above the cheapest that are drawn
const tidy = (value) => Math.round(Number(value.toPrecision(2))).toLocaleString('en')

export function render({model}) {
  const root = document.createElement('div')
  root.innerHTML = `<h3>Which polygon do n samples choose?</h3>
    <label>Samples n: <b></b><input type="range" min="${FIRST}" max="${LAST}" step="0.02" value="2.5" aria-label="Samples n"></label>
    <svg role="img"></svg><p role="status"></p>`
  const [slider, svg, said, many] = ['input', 'svg', 'p', 'label b'].map((each) => root.querySelector(each))
  const price = ([, loss, coefficient], x) => loss * 10 ** x + coefficient * x * Math.LN10
  const cheapest = (x) => model.solutions.reduce((best, each) => price(each, x) < price(best, x) ? each : best)

  const draw = () => {
    if (!model.solutions.length) return
    const x = Number(slider.value), chart = frame(svg), across = (value) => (value - FIRST) / (LAST - FIRST)
    const grid = Array.from({length: 161}, (_, i) => FIRST + (LAST - FIRST) * i / 160)
    for (const value of [0, 10, 20]) chart.tick(0, value / DEAREST, String(value))
    for (const [value, words] of [[2, '10²'], [3, '10³'], [4, '10⁴'], [5, '10⁵']]) chart.tick(across(value), 0, words)
    chart.under('samples n')
    model.solutions.forEach((each, k) => {
      const above = grid.map((value) => [across(value), (price(each, value) - price(cheapest(value), value)) / DEAREST])
      const seen = above.filter(([, y]) => y <= 1), own = each[0] === model.chosen, colour = own ? BLUE : COLOURS[k % COLOURS.length]
      if (seen.length > 1) chart.line(seen, colour, own ? '' : '6 3')
      const now = (price(each, x) - price(cheapest(x), x)) / DEAREST
      if (now <= 1) chart.dot(across(x), now, colour)
    })
    const best = cheapest(x), from = grid.find((value) => value > x && cheapest(value) !== best)
    many.textContent = tidy(10 ** x)
    slider.setAttribute('aria-valuetext', many.textContent) // the slider itself counts powers of ten
    svg.setAttribute('aria-label', `Price of each solution above the cheapest, against n. At ${tidy(10 ** x)} samples the cheapest is: ${best[0]}.`)
    Object.assign(root.dataset, {best: best[0], turn: from === undefined ? '' : turn(best, cheapest(from), x)})
    said.textContent = `The price is n·L + λ·log n. Blue: this polygon. Cheapest at ${tidy(10 ** x)} samples: ${best[0]}. `
      + (from === undefined ? 'More samples do not change that.' : `From ${tidy(Number(root.dataset.turn))} on: ${cheapest(from)[0]}.`)
  }
  const turn = (now, then, x) => {
    let low = x, high = LAST
    for (let k = 0; k < 60; k += 1) {
      const middle = (low + high) / 2
      if (price(then, middle) < price(now, middle)) high = middle
      else low = middle
    }
    return 10 ** high
  }
  slider.addEventListener('input', draw)
  let wide = 0
  const sized = new ResizeObserver(() => {
    const now = svg.getBoundingClientRect().width
    if (!now || now === wide) return
    wide = now
    draw()
  })
  sized.observe(svg)
  model.on(['solutions', 'chosen'], draw)
  model.on('remove', () => sized.disconnect())
  return root
}
