// `findDeep` of find_deep.js stands before this in the same script.

// All charts are one SVG, so that they can be saved as one drawing. It is drawn again when there is another width.
const LEAST = 236, HEIGHT = 160, GAP = 12
const FRAME = {left: 56, right: 10, top: 24, bottom: 24}
const LETTER = 7.2 // px
const BESIDE = 1000, DRAWN = 400 // px from which there is room beside the charts; ms until what was opened is drawn
const NEAR = 34 // px within which a click means a point

const SVG = 'http://www.w3.org/2000/svg'
const make = (name, attributes, parent) => {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  parent?.append(element)
  return element
}

// As many labels as do not touch, every k-th with that of zero among them. w: width of the frame in px.
const sparse = (ticks, w) => {
  const zero = Math.max(0, ticks.findIndex(([, words]) => words === '0%'))
  for (let k = 1; k < ticks.length; k += 1) {
    const kept = ticks.filter((_, i) => (i - zero) % k === 0)
    const touches = ([at, words], i) => i > 0 && (at - kept[i - 1][0]) * w < LETTER * (words.length + kept[i - 1][1].length) / 2 + 5
    if (!kept.some(touches)) return kept
  }
  return ticks.slice(zero, zero + 1)
}

export function render({model}) {
  const box = document.createElement('div')
  box.className = 'multiples'
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Charts: arrow keys go from point to point, Enter opens the runs of a point')
  const tip = document.createElement('div'), heard = document.createElement('p')
  tip.className = 'tip'
  tip.hidden = true
  heard.className = 'heard'
  heard.setAttribute('role', 'status')
  const svg = make('svg', {role: 'img'})
  box.append(svg, tip, heard)
  let width = 0, charts = [], at = null

  const draw = () => {
    const data = model.data, all = data.charts ?? []
    leave()
    charts = []
    svg.replaceChildren()
    const said = all.map((chart) => chart.said).join('. ')
    svg.setAttribute('aria-label', `${model.title}. ${said}`)
    if (!width || !all.length) { svg.setAttribute('height', 0); return }
    const across = Math.max(1, Math.min(all.length, Math.floor((width + GAP) / (LEAST + GAP))))
    const wide = (width - GAP * (across - 1)) / across, high = Math.ceil(all.length / across) * (HEIGHT + GAP) - GAP
    svg.setAttribute('viewBox', `0 0 ${width} ${high}`)
    svg.setAttribute('height', high)
    all.forEach((chart, i) => {
      const left = (i % across) * (wide + GAP), top = Math.floor(i / across) * (HEIGHT + GAP)
      charts.push(drawChart(data, chart, left, top, wide))
    })
    mark()
  }

  const drawChart = (data, chart, left, top, wide) => {
    const w = wide - FRAME.left - FRAME.right, h = HEIGHT - FRAME.top - FRAME.bottom
    const x0 = left + FRAME.left, y0 = top + FRAME.top
    const X = (share) => x0 + share * w, Y = (share) => y0 + (1 - share) * h
    const group = make('g', {'data-chart': chart.name}, svg)
    const {line, truth, close} = data.colors
    const frame = make('svg', {x: x0, y: y0, width: w, height: h, viewBox: `${x0} ${y0} ${w} ${h}`}, group) // cuts off what lies outside
    const text = (x, y, words, anchor, name) => {
      const element = make('text', {x, y, 'text-anchor': anchor, class: name, 'font-size': name === 'name' ? 14 : 13, fill: 'currentColor'}, group)
      element.textContent = words
      return element
    }
    const title = text(left + FRAME.left, top + 15, chart.name, 'start', 'name')
    title.setAttribute('font-weight', 700)
    if (data.close?.y) make('rect', {x: x0, width: w, y: Y(data.close.y[1]), height: Y(data.close.y[0]) - Y(data.close.y[1]), fill: close, 'fill-opacity': 0.15}, frame)
    if (data.close?.x) make('rect', {y: y0, height: h, x: X(data.close.x[0]), width: X(data.close.x[1]) - X(data.close.x[0]), fill: close, 'fill-opacity': 0.15}, frame)
    const rule = {stroke: 'currentColor', 'stroke-opacity': 0.16}
    for (const [share] of data.x) make('path', {d: `M${X(share)} ${y0 + h}v4`, ...rule, 'stroke-opacity': 0.5}, group)
    for (const [share, words] of sparse(data.x, w)) {
      const end = X(share) + LETTER * words.length / 2 > left + wide
      text(end ? left + wide : X(share), y0 + h + 18, words, end ? 'end' : 'middle', 'tick')
    }
    let foot = Infinity
    for (const [share, words] of data.y) {
      make('path', {d: `M${x0} ${Y(share)}h${w}`, ...rule}, group)
      if (foot - Y(share) < 14) continue
      foot = Y(share)
      text(x0 - 6, Y(share) + 4.5, words, 'end', 'tick')
    }
    make('path', {d: `M${x0} ${y0 + h}h${w}`, stroke: 'currentColor', 'stroke-opacity': 0.5}, group)
    if (data.chance !== undefined) make('path', {d: `M${x0} ${Y(data.chance)}h${w}`, stroke: 'currentColor', 'stroke-opacity': 0.6, 'stroke-width': 1.5, 'stroke-dasharray': '6 4'}, frame)
    for (const band of chart.bands) {
      const outline = band.map(([a, b]) => `${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join('L')
      make('path', {d: `M${outline}Z`, fill: line, 'fill-opacity': 0.2, class: 'band', opacity: 0}, frame)
    }
    if (data.truth) {
      const d = data.truth.y === undefined ? `M${X(data.truth.x)} ${y0}v${h}` : `M${x0} ${Y(data.truth.y)}h${w}`
      make('path', {d, stroke: truth, 'stroke-width': 2, 'stroke-dasharray': data.truth.dash.join(' '), class: 'truth'}, frame)
    }
    const points = []
    for (const {key, dash, points: places} of chart.lines) {
      const d = places.map(([a, b]) => `${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join('L')
      if (d) make('path', {d: `M${d}`, fill: 'none', stroke: line, 'stroke-width': 2, 'stroke-dasharray': dash.join(' ')}, frame)
      for (const [a, b, index, best, words] of places) {
        const x = X(a), y = Y(b)
        if (best) make('circle', {cx: x, cy: y, r: 7, fill: 'none', stroke: line, 'stroke-width': 1.5}, group)
        const dot = make('circle', {cx: x, cy: y, r: 3.6, fill: line, class: 'hit', 'data-key': key, 'data-index': index}, group)
        points.push({x, y, key, index, words, dot, name: chart.name})
      }
    }
    return {group, left, top, wide, points}
  }

  const mark = () => {
    const [key, index] = model.chosen
    for (const chart of charts) for (const point of chart.points) {
      const on = point.key === key && point.index === index
      point.dot.setAttribute('r', on ? 6.5 : 3.6)
      point.dot.setAttribute('fill', on ? model.data.colors.chosen : model.data.colors.line)
    }
  }

  // The chart and the point under the pointer.
  const scale = () => { const r = svg.getBoundingClientRect(); return [r, width / (r.width || 1)] }
  const under = (event) => {
    const [area, by] = scale(), x = (event.clientX - area.left) * by, y = (event.clientY - area.top) * by
    const chart = charts.find((c) => x >= c.left && x <= c.left + c.wide && y >= c.top && y <= c.top + HEIGHT)
    let nearest = null, least = NEAR
    for (const point of chart?.points ?? []) {
      const far = Math.hypot(point.x - x, point.y - y)
      if (far < least) { nearest = point; least = far }
    }
    return [chart, nearest]
  }
  const show = (chart, point) => {
    charts.forEach((c) => c.group.classList.toggle('here', c === chart))
    at = point
    tip.hidden = !point
    svg.style.cursor = point ? 'pointer' : ''
    if (!point) return
    tip.textContent = `${point.name}\n${point.words}`
    const left = Math.min(point.x + 12, width - tip.offsetWidth), high = tip.offsetHeight
    tip.style.left = `${Math.max(0, left)}px`
    tip.style.top = `${point.y > high + 14 ? point.y - high - 12 : point.y + 14}px`
  }
  const leave = () => show(null, null)
  let opening = false
  const choose = (point) => {
    if (!point) return
    opening = true
    model.send_msg({point: [point.key, point.index]})
  }
  // In a narrow window what a point opens lies below all charts.
  const follow = () => {
    mark()
    if (!opening || !model.chosen.length) return
    opening = false
    if (window.innerWidth < BESIDE) setTimeout(() => findDeep(document, '.lab-beside')?.scrollIntoView({block: 'start'}), DRAWN)
  }
  svg.addEventListener('pointermove', (event) => show(...under(event)))
  svg.addEventListener('pointerleave', leave)
  svg.addEventListener('click', (event) => { const [chart, point] = under(event); show(chart, point); choose(point) })

  const go = (along, over) => {
    const groups = charts.map((c) => c.points).filter((points) => points.length)
    if (!groups.length) return
    const i = Math.max(0, groups.findIndex((points) => points.includes(at))), j = groups[i].indexOf(at)
    const next = groups[(i + over + groups.length) % groups.length]
    const k = j < 0 ? 0 : Math.max(0, Math.min(next.length - 1, j + along))
    show(charts.find((c) => c.points === next), next[k])
    heard.textContent = tip.textContent
  }
  const WAYS = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}
  box.addEventListener('keydown', (event) => {
    if (WAYS[event.key]) go(...WAYS[event.key])
    else if (event.key === 'Enter') choose(at)
    else if (event.key === 'Escape') leave()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  box.addEventListener('blur', leave)

  const watch = new ResizeObserver(() => {
    const now = Math.floor(box.clientWidth)
    if (now && now !== width) { width = now; draw() }
  })
  watch.observe(box)
  model.on('data', draw)
  model.on('chosen', follow)
  model.on('remove', () => watch.disconnect())
  return box
}
