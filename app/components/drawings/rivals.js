// rivals_math.js and chart.js stand before this in the same script.

const ORANGE = '#E69F00'
const LEAST = 1, MOST = 5 // log10 of n
const ASKED = 100 // samples, in the question
const round = (value) => Math.round(Number(value.toPrecision(2))).toLocaleString('en')
const percent = (share) => share > .995 ? 'almost all' : share < .005 ? 'almost none' : `${Math.round(100 * share)}%`

export function render({model}) {
  const root = document.createElement('section')
  root.className = 'card'
  root.innerHTML = `<h2>Two solutions: which one do the data choose?</h2>
    <p>A is perfect, but its floor is narrow. B is a little worse, but its floor is broad. Guess: where is the posterior at ${ASKED} samples?</p>
    <div class="guess"><button type="button" aria-pressed="false">Mostly at A, the perfect one</button><button type="button" aria-pressed="false">Mostly at B, the broad one</button></div>
    <div class="sliders" hidden>
      <div><label for="samples">Samples n: <b></b></label><input id="samples" type="range" min="${LEAST}" max="${MOST}" step="0.02" value="${Math.log10(ASKED)}"></div>
      <div><label for="worse">Loss of B: <b></b></label><input id="worse" type="range" min="-3" max="-1" step="0.02" value="-2.3"></div>
    </div>
    <div class="two"><figure><figcaption><b>Loss over one weight.</b> <span>Its two lowest points are the solutions.</span></figcaption><svg role="img"></svg></figure>
      <figure hidden><figcaption><b>The price of each solution.</b> The lower one is chosen.</figcaption><svg role="img"></svg></figure></div>
    <p role="status"></p>`
  const find = (selector) => root.querySelector(selector)
  const guesses = [...root.querySelectorAll('.guess button')], [picture, prices] = root.querySelectorAll('svg')
  const many = find('#samples'), worse = find('#worse'), said = find('[role=status]')
  let guessed = -1, answer = ''

  const across = (w) => (w + 2) / 4
  const places = Array.from({length: 401}, (_, i) => -2 + i / 100)
  const draw = () => {
    const n = 10 ** Number(many.value), c = 10 ** Number(worse.value), share = shareOfB(c, n), known = guessed >= 0
    const one = frame(picture)
    for (const [value, words] of [[0, '0'], [.5, '½'], [1, '1']]) one.tick(0, value, words)
    one.under('weight w')
    if (known) {
      const most = Math.max(...places.map((w) => Math.exp(-n * height(c, w))))
      const mass = places.map((w) => [across(w), Math.exp(-n * height(c, w)) / most])
      one.area(mass.slice(0, 201), BLUE)
      one.area(mass.slice(200), ORANGE)
    }
    one.line(places.map((w) => [across(w), Math.min(1, height(c, w))]), 'currentColor')
    one.word(across(known ? -.62 : -1), .12 + .6 * known, known ? `A: ${percent(1 - share)}` : 'A')
    one.word(across(1), .12 + .6 * known, known ? `B: ${percent(share)}` : 'B')
    picture.setAttribute('aria-label', `Loss with two solutions${known ? `. ${percent(share)} of the posterior is at B` : ''}.`)
    if (!known) return
    find('label[for=samples] b').textContent = round(n)
    find('label[for=worse] b').textContent = fixed(c, 3)
    const turn = change(c), top = 12, two = frame(prices), log = (x) => (x - LEAST) / (MOST - LEAST)
    const grid = Array.from({length: 81}, (_, i) => LEAST + (MOST - LEAST) * i / 80)
    for (const value of [0, 4, 8, 12]) two.tick(0, value / top, String(value))
    for (const [x, words] of [[2, '10²'], [3, '10³'], [4, '10⁴'], [5, '10⁵']]) two.tick(log(x), 0, words)
    two.under('n')
    for (const [key, colour, dash] of [['A', BLUE, ''], ['B', ORANGE, '10 5']]) {
      two.line(grid.map((x) => [log(x), freeEnergies(c, 10 ** x)[key] / top]).filter(([, y]) => y <= 1), colour, dash)
      const now = freeEnergies(c, n)[key] / top
      if (now <= 1) two.dot(log(Math.log10(n)), now, colour)
    }
    if (turn > 10 ** LEAST && turn < 10 ** MOST) two.line([[log(Math.log10(turn)), 0], [log(Math.log10(turn)), 1]], GREY, '2 4')
    prices.setAttribute('aria-label', `Free energies of both solutions against n. They are equal at n = ${round(turn)}.`)
    Object.assign(root.dataset, {share, turn})
    said.textContent = `${answer}At ${round(n)} samples ${percent(share)} of the posterior is at B. Its smaller λ, ⅙ against ½, buys room. `
      + (turn > 10 ** LEAST ? `From ${round(turn)} samples on, A is chosen: then its better loss weighs more.` : 'Here its loss is too high for that.')
  }
  const guess = (place) => {
    guessed = place
    guesses.forEach((each, k) => each.setAttribute('aria-pressed', String(k === place)))
    for (const hidden of root.querySelectorAll('.sliders, figure')) hidden.hidden = false
    answer = (shareOfB(10 ** Number(worse.value), 10 ** Number(many.value)) > .5) === (place === 1) ? 'Yes. ' : 'No. '
    draw()
  }
  guesses.forEach((each, place) => each.addEventListener('click', () => guess(place)))
  for (const each of [many, worse]) each.addEventListener('input', () => { answer = ''; draw() })
  let wide = 0
  const sized = new ResizeObserver(() => {
    const now = picture.getBoundingClientRect().width
    if (!now || now === wide) return
    wide = now
    draw()
  })
  sized.observe(picture)
  model.on('remove', () => sized.disconnect())
  return root
}
