// valley_math.js, chart.js and find_deep.js stand before this in the same script.

const CHAINS = 24, HOPS = 6 // of each chain, in a frame
const WARM = 20, LENGTH = 1200 // frames before averaging begins, and frames that the chart of the estimate holds
const PIXELS = 200, SOON = 120, SAY = 200 // of the map; ms after the last move of a slider; ms between numbers
const COLOURS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#B8860B']
const MOST = 6 // log10 of the largest n

const SHAPES = [[.5, 'Nearly a bowl'], [1.5, 'A valley with a soft floor'], [2, 'A floor that is almost flat'], [2.0001, 'A flat floor'],
  [3, 'A floor that bends upwards'], [4, 'Two valleys that cross']]
const shapeOf = (t) => t === 0 ? 'A bowl' : SHAPES.find(([end]) => t < end)[1]
const COUNTS = {1: 'one weight', 2: 'two weights'}

export function render({model, view}) {
  const root = document.createElement('div')
  root.className = 'board' // the library calls what it stands in “valley”
  root.innerHTML = `
    <div class="card bar">
      <div><label for="bend">Bend the valley: <b></b></label><input id="bend" type="range" min="0" max="3" step="0.01">
        <div class="ends"><span>bowl</span><span>soft floor</span><span>flat floor</span><span>crossing</span></div></div>
      <div><label for="many">Samples n: <b></b></label><input id="many" type="range" min="1" max="${MOST}" step="0.05">
        <div class="ends"><span>10: every low loss will do</span><span>1,000,000: only the lowest</span></div></div>
      <button type="button"></button>
    </div>
    <div class="stage">
      <div class="card"><h2>Loss over the two weights</h2>
        <div class="map" role="img"><canvas></canvas><canvas></canvas></div>
        <p class="small">Blue: weights that fit about as well as the best. More samples make it narrower. Dots: chains that walk there.</p></div>
      <div class="card side">
        <div class="numbers"><div>estimate λ̂<strong class="hat">…</strong></div><div class="truth">exact λ<strong></strong></div><p></p></div>
        <svg class="line" role="img"></svg>
        <div class="charts">
          <figure><figcaption><b>How much room is there?</b> Share of weights with a loss below 1/n. Its slope is −λ.</figcaption><svg></svg></figure>
          <figure><figcaption><b>The estimate comes to rest.</b> λ̂ is n times the loss that the chains meet on average.</figcaption><svg></svg></figure>
          <figure><figcaption><b>The price of n samples.</b> It grows as λ log n. A bowl pays more.</figcaption><svg></svg></figure>
        </div>
      </div>
    </div>
    <div class="ways"></div>`
  const find = (selector) => root.querySelector(selector)
  const bend = find('#bend'), many = find('#many'), play = find('.bar button'), [below, above] = root.querySelectorAll('canvas')
  const [room, trace, price] = root.querySelectorAll('.charts svg')
  const pen = above.getContext('2d')
  let t = model.bend, n = 10 ** model.samples, ideal = posterior(t, n), edge = ''
  let chains = [], sums = [], frames = 0, past = [], going = !matchMedia('(prefers-reduced-motion: reduce)').matches, waits, said = 0, next = 0, gone = false

  const begin = () => {
    chains = Array.from({length: CHAINS}, () => [0, 0])
    sums = chains.map(() => 0)
    frames = 0
    past = []
    pen.clearRect(0, 0, above.width, above.height)
  }
  const estimate = () => {
    const each = sums.map((sum) => sum / (frames - WARM)), mean = each.reduce((a, b) => a + b, 0) / CHAINS
    return [mean, Math.sqrt(each.reduce((a, b) => a + (b - mean) ** 2, 0) / (CHAINS - 1) / CHAINS)]
  }

  // -- what stands still while the chains move ---------------------------------------------------------------------------
  const shade = () => {
    below.width = below.height = PIXELS
    const ink = below.getContext('2d'), image = ink.createImageData(PIXELS, PIXELS)
    for (let row = 0, at = 0; row < PIXELS; row += 1) for (let column = 0; column < PIXELS; column += 1, at += 4) {
      const cost = n * loss(t, 2 * (column + .5) / PIXELS - 1, 1 - 2 * (row + .5) / PIXELS)
      image.data.set([21, 131, 201, 255 * (.05 + .5 / (1 + cost * cost) + .12 / (1 + cost / 50))], at)
    }
    ink.putImageData(image, 0, 0)
  }
  const grid = Array.from({length: 41}, (_, i) => 1 + (MOST - 1) * i / 40)
  const across = (log) => (log - 1) / (MOST - 1)
  const draw = () => {
    const {lambda, multiplicity} = exact(t), hidden = model.withheld, at = across(Math.log10(n)), end = 10 ** MOST
    for (const [svg, f, top, slope, words] of [
      [room, (x) => 1 + Math.log10(volume(t, 10 ** -x)) / MOST, 1, -lambda / MOST, ['1', '10⁻³', '10⁻⁶']],
      [price, (x) => posterior(t, 10 ** x).free / 14, 14, lambda * Math.LN10 / 14, ['14', '7', '0']],
    ]) {
      const chart = frame(svg), last = f(MOST)
      words.forEach((each, i) => chart.tick(0, 1 - i / 2, each))
      for (const [log, each] of [[2, '10²'], [4, '10⁴'], [6, '10⁶']]) chart.tick(across(log), 0, each)
      chart.under('n')
      if (svg === price) chart.line(grid.map((x) => [across(x), posterior(0, 10 ** x).free / 14]), GREY, '2 4')
      chart.line(grid.map((x) => [across(x), f(x)]), BLUE)
      if (!hidden) chart.line(grid.map((x) => [across(x), last + slope * (x - MOST)]).filter(([, y]) => y >= 0 && y <= 1), TRUTH, '8 5')
      chart.dot(at, f(Math.log10(n)))
    }
    ideal = posterior(t, n)
    Object.assign(root.dataset, {lambda, multiplicity, mean: ideal.mean, free: ideal.free, room: volume(t, 1 / n), end})
    find('label[for=bend] b').textContent = shapeOf(t)
    find('label[for=many] b').textContent = Math.round(Number(n.toPrecision(2))).toLocaleString('en')
    bend.setAttribute('aria-valuetext', shapeOf(t))
    find('.truth').hidden = hidden
    find('.truth strong').textContent = fixed(lambda, lambda * 100 % 1 > 1e-9 ? 3 : 2)
    const used = Number((2 * lambda).toFixed(2)), twice = multiplicity > 1 ? ' The crossing gives the chains even more room, so λ̂ reads less.' : ''
    find('.numbers p').textContent = hidden ? 'This model has two weights. How many does it use?'
      : `This model has two weights. It behaves like a model with ${COUNTS[used] ?? used}: λ is half of that.${twice}`
    find('.map').setAttribute('aria-label', `${shapeOf(t)}, ${find('label[for=many] b').textContent} samples.` + (hidden ? '' : ` Exact λ ${fixed(lambda, 3)}.`))
    scale(hidden ? null : lambda)
  }
  let wide = 460 // px of the number line
  const along = (value) => 14 + (wide - 28) * Math.min(Math.max(value, 0), 1.05) / 1.05
  const scale = (lambda) => {
    const svg = find('.line')
    svg.replaceChildren()
    wide = Math.max(240, svg.getBoundingClientRect().width)
    svg.setAttribute('viewBox', `0 0 ${wide} ${svg.getBoundingClientRect().height || 64}`)
    drawn('line', {x1: 14, x2: wide - 14, y1: 32, y2: 32, stroke: 'currentColor', 'stroke-opacity': .35, 'stroke-width': 2}, svg)
    for (const [value, words] of [[0, '0'], [1, 'd/2: every weight counts']]) {
      drawn('line', {x1: along(value), x2: along(value), y1: 22, y2: 42, stroke: 'currentColor', 'stroke-width': 3}, svg)
      drawn('text', {x: value ? wide - 14 : 14, y: 60, 'text-anchor': value ? 'end' : 'start'}, svg, words)
    }
    if (lambda !== null) {
      drawn('line', {x1: along(lambda), x2: along(lambda), y1: 18, y2: 46, stroke: TRUTH, 'stroke-width': 4}, svg)
      if (lambda < .75) drawn('text', {x: along(lambda), y: 60, 'text-anchor': 'middle'}, svg, 'λ')
    }
    const at = drawn('g', {class: 'at'}, svg)
    drawn('circle', {cx: 0, cy: 32, r: 7, fill: BLUE}, at)
    drawn('text', {x: 0, y: 16, 'text-anchor': 'middle', 'font-weight': 700}, at, 'λ̂')
    svg.setAttribute('aria-label', 'Number line from 0 to d/2' + (lambda === null ? '' : `, exact λ ${fixed(lambda, 3)}`))
    glide()
  }
  const glide = () => {
    const [mean] = frames > WARM ? estimate() : [ideal.mean]
    find('.at').style.transform = `translateX(${along(frames > WARM ? mean : 0)}px)`
  }

  // -- what moves --------------------------------------------------------------------------------------------------------
  const numbers = () => {
    glide()
    if (frames <= WARM) { find('.hat').textContent = '…'; return }
    const [mean, error] = estimate()
    find('.hat').textContent = `${fixed(mean, 3)} ± ${fixed(error, 3)}`
    const chart = frame(trace), top = 1.5
    for (const value of [0, .5, 1, 1.5]) chart.tick(0, value / top, fixed(value, 1))
    chart.under('steps')
    if (!model.withheld) {
      chart.line([[0, exact(t).lambda / top], [1, exact(t).lambda / top]], TRUTH)
      if (Math.abs(ideal.mean - exact(t).lambda) > .015) chart.line([[0, ideal.mean / top], [1, ideal.mean / top]], TRUTH, '2 4')
    }
    if (past.length > 1) chart.line(past.map((value, i) => [i / LENGTH, Math.min(value / top, 1)]), BLUE)
  }
  const move = () => {
    const size = above.width, at = ([x, y]) => [(x + 1) / 2 * size, (1 - y) / 2 * size]
    pen.globalCompositeOperation = 'destination-out'
    pen.fillStyle = 'rgba(0, 0, 0, .07)'
    pen.fillRect(0, 0, size, size)
    pen.globalCompositeOperation = 'source-over'
    chains = chains.map((place, k) => {
      const from = at(place)
      for (let i = 0; i < HOPS; i += 1) {
        place = hop(t, n, place, Math.random)
        if (frames >= WARM) sums[k] += n * loss(t, ...place) / HOPS
      }
      const to = at(place), near = Math.hypot(to[0] - from[0], to[1] - from[1]) < size / 6
      pen.strokeStyle = pen.fillStyle = COLOURS[k % COLOURS.length]
      pen.lineWidth = size / 300
      pen.beginPath()
      if (near) { pen.moveTo(...from); pen.lineTo(...to); pen.stroke() }
      pen.beginPath()
      pen.arc(...to, size / 110, 0, 7)
      pen.fill()
      return place
    })
    frames += 1
    if (frames > WARM && past.length < LENGTH) past.push(estimate()[0])
  }
  const tick = (now) => {
    if (gone) return
    if (going && root.isConnected) {
      move()
      if (now - said > SAY) { said = now; numbers() }
    }
    next = requestAnimationFrame(tick)
  }

  // -- what the visitor does ---------------------------------------------------------------------------------------------
  const bent = () => {
    begin()
    shade()
    draw()
  }
  const slid = () => {
    t = Number(bend.value)
    n = 10 ** Number(many.value)
    bent()
    clearTimeout(waits)
    waits = setTimeout(() => model.send_msg({bend: t, samples: Number(many.value)}), SOON)
  }
  const set = () => {
    if (Number(bend.value) === model.bend && Number(many.value) === model.samples && chains.length) return
    bend.value = t = model.bend
    many.value = model.samples
    n = 10 ** model.samples
    bent()
  }
  const mark = () => { play.textContent = going ? 'Pause' : 'Play' }
  play.addEventListener('click', () => { going = !going; mark() })
  bend.addEventListener('input', slid)
  many.addEventListener('input', slid)
  find('.ways').replaceChildren(...model.ways.map(({key, title, words}) => {
    const b = document.createElement('button'), name = document.createElement('b')
    b.type = 'button'
    name.textContent = title + ' →'
    b.append(name, words)
    b.addEventListener('click', () => {
      const there = findDeep(document, `nav button[data-key="${key}"]`)
      if (there) there.click()
      else window.location.search = `?page=${key}`
    })
    return b
  }))
  const sized = new ResizeObserver(() => {
    const wide = Math.round(above.getBoundingClientRect().width * devicePixelRatio), sizes = `${wide} ${trace.getBoundingClientRect().width}`
    if (sizes === edge || !wide) return
    edge = sizes
    if (above.width !== wide) above.width = above.height = wide
    draw()
    numbers()
  })
  sized.observe(find('.map'))
  sized.observe(find('.charts'))
  bend.value = model.bend
  many.value = model.samples
  mark()
  bent()
  model.on('bend', set)
  model.on('samples', set)
  model.on('withheld', () => { draw(); numbers() })
  model.on('remove', () => { gone = true; cancelAnimationFrame(next); sized.disconnect(); clearTimeout(waits) })
  next = requestAnimationFrame(tick)
  return root
}
