// What stands before this in the script: exact.js and svg.js. A network is typed, the weights that it uses are guessed, then revealed.

const MOST_LAYERS = 12, WIDEST = 1000, PATIENT = 200_000 // the last: entries that the search for a multiplicity may compute here
const plain = ({top, bottom, value}) => bottom === 1 ? String(top) : Number.isInteger(value * 100) ? String(value) : `${top}/${bottom}`

// Widths and layer ranks from what was typed; a sentence that says what to change where they belong to no network.
const readNetwork = (typedWidths, typedRanks) => {
  const whole = (text) => text.split(/[\s,;–-]+/).filter(Boolean).map((each) => /^\d{1,6}$/.test(each) ? Number(each) : NaN)
  const widths = whole(typedWidths)
  if (widths.some((h) => !(h >= 1 && h <= WIDEST))) throw new Error(`Give widths from 1 to ${WIDEST}, such as 6, 6, 6.`)
  if (widths.length < 2 || widths.length > MOST_LAYERS + 1) throw new Error(`Give from 2 to ${MOST_LAYERS + 1} widths, such as 6, 6, 6.`)
  const most = widths.slice(1).map((h, l) => Math.min(h, widths[l])), given = whole(typedRanks)
  const ranks = given.length ? given : most
  if (ranks.length !== most.length) throw new Error(`Give ${most.length} rank${most.length > 1 ? 's' : ''}, one for each layer, or none.`)
  const wrong = ranks.findIndex((k, l) => !(k <= most[l]))
  if (wrong >= 0) throw new Error(`Give layer ${wrong + 1} a rank from 0 to ${most[wrong]}.`)
  return {widths, ranks}
}

const allExact = ({widths, ranks}) => {
  const table = rankTable(widths, ranks)
  return {d: weightsOf(widths), local: localCoefficient(widths, table, PATIENT), global: globalCoefficient(widths, table[0][widths.length - 1]),
    layers: layerCoefficients(widths, table)}
}

const mountGuess = (root, onNetwork) => {
  root.innerHTML = `
    <div class="asks"><label>Widths<input id="widths" value="6, 6, 6" inputmode="text" autocomplete="off" spellcheck="false"></label>
      <label>Rank of each layer<input id="ranks" value="3, 3" autocomplete="off" spellcheck="false"></label>
      <button type="button" id="another">Another network</button></div>
    <div class="guessing"><label for="bet" class="big"></label><button type="button" class="main" id="reveal">Reveal</button>
      <input id="bet" type="range" min="0" step="1"></div>
    <svg role="img" height="74"></svg>
    <div role="status"><p class="said big"></p><div class="layers"></div></div>`
  const find = (selector) => root.querySelector(selector), svg = find('svg'), bet = find('#bet')
  let network, found, open = false
  const draw = () => {
    const wide = Math.max(240, svg.getBoundingClientRect().width), at = (value) => 14 + (wide - 28) * value / (found.d / 2)
    svg.replaceChildren()
    svg.setAttribute('viewBox', `0 0 ${wide} 74`)
    drawn('line', {x1: 14, x2: wide - 14, y1: 36, y2: 36, stroke: 'currentColor', 'stroke-opacity': .35, 'stroke-width': 2}, svg)
    for (const [value, words, anchor] of [[0, '0', 'start'], [found.d / 2, `d/2 = ${found.d / 2}`, 'end']]) {
      drawn('line', {x1: at(value), x2: at(value), y1: 26, y2: 46, stroke: 'currentColor', 'stroke-width': 3}, svg)
      drawn('text', {x: at(value), y: 66, 'text-anchor': anchor}, svg, words)
    }
    const guess = bet.value / 2
    drawn('circle', {cx: at(guess), cy: 36, r: 8, fill: BLUE}, svg)
    drawn('text', {x: Math.min(Math.max(at(guess), 36), wide - 36), y: 18, 'text-anchor': 'middle'}, svg, 'your guess')
    if (open) {
      const x = at(found.local.value)
      drawn('line', {x1: x, x2: x, y1: 22, y2: 50, stroke: TRUTH, 'stroke-width': 5}, svg)
      if (found.local.value > .08 * found.d && found.local.value < .42 * found.d) drawn('text', {x, y: 66, 'text-anchor': 'middle', 'font-weight': 700}, svg, 'λ')
    }
    svg.setAttribute('aria-label', `Number line from 0 to ${found.d / 2}, your guess ${guess}` + (open ? `, λ ${plain(found.local)}` : ''))
    find('label.big').innerHTML = `My guess: <strong>${bet.value}</strong> of ${found.d} weights`
    bet.setAttribute('aria-valuetext', `${bet.value} of ${found.d} weights`)
  }
  const say = () => {
    find('.layers').replaceChildren()
    find('.said').classList.remove('wrong')
    if (!open) { find('.said').textContent = ''; return }
    const {d, local, global, layers} = found, times = (m) => m === 1 ? '' : m === null ? ' (multiplicity not searched for)' : ` (multiplicity ${m})`
    const off = Math.abs(bet.value - 2 * local.value), verdict = off < .5 ? 'Exactly.' : off < .08 * d ? 'Close.' : bet.value > 2 * local.value ? 'Fewer than that.' : 'More than that.'
    const elsewhere = global.value === local.value ? 'No other solution of the same function has less.' : `Another solution of the same function has λ = ${plain(global)}${times(global.multiplicity)}, the least of all.`
    find('.said').innerHTML = `${verdict} It behaves like a model with ${plain(fraction(2 * local.top, local.bottom))} of its ${d} weights:
      <span class="whole">λ = <strong class="truth">${plain(local)}</strong></span>${times(local.multiplicity)}. ${elsewhere}`
    find('.layers').innerHTML = layers.map((each, l) => `<div>Only layer ${l + 1} moves: <span class="whole">λ = ${plain(each)}</span><i style="width: ${100 * each.value / Math.max(...layers.map((x) => x.value), 1)}%"></i></div>`).join('')
  }
  const typed = () => {
    open = false
    try {
      network = readNetwork(find('#widths').value, find('#ranks').value)
    } catch (error) {
      find('.said').textContent = error.message
      find('.said').classList.add('wrong')
      find('.layers').replaceChildren()
      find('#reveal').disabled = bet.disabled = true
      return
    }
    found = allExact(network)
    find('#reveal').disabled = bet.disabled = false
    bet.max = found.d
    bet.value = found.d
    onNetwork(network)
    say()
    draw()
  }
  const another = () => {
    const any = (low, high) => low + Math.floor(Math.random() * (high - low + 1)), widths = Array.from({length: any(3, 5)}, () => any(2, 9))
    find('#widths').value = widths.join(', ')
    find('#ranks').value = widths.slice(1).map((h, l) => any(1, Math.min(h, widths[l]))).join(', ')
    typed()
  }
  find('#widths').addEventListener('input', typed)
  find('#ranks').addEventListener('input', typed)
  find('#another').addEventListener('click', another)
  bet.addEventListener('input', () => { if (open) { open = false; say() } draw() })
  find('#reveal').addEventListener('click', () => { open = true; say(); draw() })
  new ResizeObserver(draw).observe(svg)
  typed()
}
