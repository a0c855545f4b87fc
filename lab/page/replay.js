// What stands before this in the script: svg.js, and RUNS as lab/page/record.py wrote them.

const FRAME = 110 // ms
const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length

const mountReplay = (root, runs) => {
  root.innerHTML = `<div class="buttons" role="group" aria-label="Which solution"></div>
    <svg role="img" height="260"></svg>
    <div class="buttons"><button type="button" class="main">Pause</button><button type="button">From the start</button><button type="button">Show λ</button>
    <span class="key"><i style="color: ${BLUE}; border-width: 1px"></i>one chain: n times its loss</span><span class="key"><i style="color: ${BLUE}"></i>λ̂, their mean so far</span>
    <span class="key"><i style="color: ${TRUTH}"></i>exact λ</span></div>
    <p class="big"></p><p class="small"></p>`
  const svg = root.querySelector('svg'), [said, note] = root.querySelectorAll('p'), [play, again, show] = root.querySelectorAll('.buttons:not([role]) button')
  let run = runs[1], at = 0, told = 0, open = false
  const choices = runs.map((each) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = `Ranks ${each.ranks.join(', ')}`
    b.addEventListener('click', () => { run = each; at = 0; open = false; pick() })
    root.querySelector('[role=group]').append(b)
    return b
  })
  const exact = () => run.lambda[0] / run.lambda[1]
  const top = Math.max(...runs.map((each) => 1.8 * each.lambda[0] / each.lambda[1]))
  const draw = () => {
    const wide = Math.max(260, svg.getBoundingClientRect().width), high = 260, frames = run.met.length
    const place = (i, value) => `${(40 + (wide - 48) * i / (frames - 1)).toFixed(1)} ${(high - 30 - (high - 40) * Math.min(value, top) / top).toFixed(1)}`
    const line = (values, width, opacity) => values.length > 1 && drawn('path', {d: 'M' + values.map(([i, value]) => place(i, value)).join('L'), fill: 'none',
      stroke: BLUE, 'stroke-width': width, 'stroke-opacity': opacity}, svg)
    svg.replaceChildren()
    svg.setAttribute('viewBox', `0 0 ${wide} ${high}`)
    drawn('path', {d: `M40 6V${high - 30}H${wide - 8}`, fill: 'none', stroke: 'currentColor', 'stroke-opacity': .4}, svg)
    for (const value of [0, 5, 10, 15, 20]) if (value < top) drawn('text', {x: 34, y: Number(place(0, value).split(' ')[1]) + 4, 'text-anchor': 'end'}, svg, value)
    for (const [x, anchor, words] of [[40, 'start', 'step 0'], [wide - 8, 'end', run.steps]]) drawn('text', {x, y: high - 8, 'text-anchor': anchor}, svg, words)
    const burnt = 40 + (wide - 48) * run.burn_in / run.steps
    drawn('path', {d: `M${burnt} 6V${high - 30}`, stroke: 'currentColor', 'stroke-opacity': .3, 'stroke-dasharray': '3 4'}, svg)
    drawn('text', {x: burnt + 4, y: 18}, svg, 'averaging begins')
    if (open) drawn('path', {d: `M${place(0, exact())}L${place(frames - 1, exact())}`, stroke: TRUTH, 'stroke-width': 3}, svg)
    for (let k = 0; k < run.met[0].length; k += 1) line(run.met.slice(0, at + 1).map((row, i) => [i, row[k]]), 1, .55)
    line(run.hat.slice(0, at + 1).map((row, i) => [i, row]).filter(([, row]) => row[0] !== null).map(([i, row]) => [i, mean(row)]), 4, 1)
    svg.setAttribute('aria-label', `${run.met[0].length} chains over ${run.steps} steps. ${said.textContent}`)
  }
  // How many chains begin far away, and the step from which on all are near.
  const far = () => run.met[0].filter((each) => each > 10 * top).length
  const near = () => run.steps / run.met.length * (1 + run.met.findLastIndex((row) => row.some((each) => each > 10 * top)))
  const say = () => {
    const row = run.hat[at], last = at === run.met.length - 1, truth = open ? ` Exact λ: ${fixed(exact(), 1)}.` : ''
    const hat = last ? `${fixed(run.estimate, 2)} ± ${fixed(run.error, 2)}` : row[0] === null ? '…' : fixed(mean(row), 1)
    said.textContent = `λ̂ = ${hat}, so this network of ${run.w0.length} weights uses about ${row[0] === null ? '…' : fixed(2 * mean(row), 0)}.${truth}`
    note.textContent = `${run.met[0].length} chains; ${far()} of them begin far away, and all are near from step ${near()} on.`
    show.textContent = open ? 'Hide λ' : 'Show λ'
  }
  const see = () => { say(); draw() }
  const pick = () => { choices.forEach((b, k) => b.setAttribute('aria-pressed', String(runs[k] === run))); see() }
  const set = moving(root, play, (now) => {
    if (now - told < FRAME || at === run.met.length - 1) return
    told = now
    at += 1
    see()
  })
  again.addEventListener('click', () => { at = 0; see(); set(true) })
  show.addEventListener('click', () => { open = !open; see() })
  new ResizeObserver(draw).observe(svg)
  if (still()) at = run.met.length - 1
  pick()
}
