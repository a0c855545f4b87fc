// What stands before this in the script: line.js and svg.js. Two samplers beside each other, with the target and what is predicted.

const PARTICLES = 2000, SHOWN = 160, BUDGET = 4 // the last: ms of a frame for both
const NAMES = {published: 'PSGLD, as published', corrected: 'PSGLD, corrected'}

const mountHole = (root) => {
  root.innerHTML = `<div class="buttons"><button type="button" class="main">Pause</button><button type="button">Begin again</button>
    <span><span class="key"><i style="color: ${BLUE}"></i>visits so far</span><span class="key"><i style="color: ${TRUTH}"></i>what they should fill</span>
    <span class="key"><i style="color: ${GREEN}; border-top-style: dashed"></i>what theory predicts</span></span></div>
    <div class="pair">${Object.keys(NAMES).map((name) => `<div class="card" data-name="${name}"><h3>${NAMES[name]}</h3><canvas role="img"></canvas>
      <p class="said"></p></div>`).join('')}</div>
    <p class="small">Where the loss is least, gradients are small and the published sampler takes long steps. It leaves at once. Its correction term, at
    full strength, brings it back.</p>`
  const [play, again] = root.querySelectorAll('button'), target = predicted('corrected')
  const sides = Object.keys(NAMES).map((name) => {
    const card = root.querySelector(`[data-name=${name}]`)
    return {name, canvas: card.querySelector('canvas'), said: card.querySelector('.said'), law: predicted(name)}
  })
  let steps = 0, spoken = 0
  const begin = () => {
    steps = spoken = 0
    for (const side of sides) Object.assign(side, particles(side.name, PARTICLES, normals(Math.random)), {counts: Array(BINS + 2).fill(0), visits: 0})
    sides.forEach(paint)
    sides.forEach(speak)
  }
  const masses = (side) => side.counts.map((each) => each / Math.max(1, side.visits))
  const paint = ({canvas, counts, visits, x, law}) => {
    const wide = Math.round(canvas.clientWidth * devicePixelRatio), high = Math.round(canvas.clientHeight * devicePixelRatio)
    if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high }
    const pen = canvas.getContext('2d'), floor = high * .84, width = (HIGH - LOW) / BINS, top = .46
    const across = (value) => (value - LOW) / (HIGH - LOW) * wide, up = (density) => floor * (1 - Math.min(density / top, 1))
    pen.clearRect(0, 0, wide, high)
    pen.fillStyle = BLUE + '99'
    for (let k = 0; k < BINS && visits; k += 1) {
      const y = up(counts[k + 1] / visits / width)
      pen.fillRect(across(LOW + k * width), y, wide / BINS - 1, floor - y)
    }
    pen.fillStyle = BLUE
    for (let i = 0; i < SHOWN; i += 1) {
      pen.beginPath()
      pen.arc(across(x[i]), floor + (high - floor) * (.15 + .75 * i / SHOWN), 1.5 * devicePixelRatio, 0, 7)
      pen.fill()
    }
    for (const [f, colour, dash] of [[target.density, TRUTH, []], [law.density, GREEN, [8, 5]]]) {
      pen.strokeStyle = colour
      pen.lineWidth = 2.5 * devicePixelRatio
      pen.setLineDash(dash.map((each) => each * devicePixelRatio))
      pen.beginPath()
      for (let k = 0; k <= 320; k += 1) { const at = LOW + (HIGH - LOW) * k / 320; pen.lineTo(across(at), up(f(at))) }
      pen.stroke()
    }
    pen.setLineDash([])
  }
  const speak = ({canvas, said, name, law, ...side}) => {
    const off = side.visits ? apart(masses(side), target.masses) : 0, wanted = apart(law.masses, target.masses)
    said.textContent = side.visits ? `${fixed(100 * off, 0)}% of the visits are in the wrong place. Theory predicts ${fixed(100 * wanted, 0)}% for small steps.` : 'No visits so far.'
    canvas.setAttribute('aria-label', `${NAMES[name]} after ${steps.toLocaleString('en')} steps. ${said.textContent}`)
    canvas.parentElement.dataset.off = off
  }
  moving(root, play, (now) => {
    const until = performance.now() + BUDGET
    do {
      for (let i = 0; i < 10; i += 1) sides.forEach((side) => side.move())
      steps += 10
      sides.forEach((side) => { count(side.x, side.counts); side.visits += PARTICLES })
    } while (performance.now() < until)
    sides.forEach(paint)
    if (now - spoken > 250) { spoken = now; sides.forEach(speak) }
  })
  again.addEventListener('click', begin)
  new ResizeObserver(() => sides.forEach(paint)).observe(root)
  begin()
}
